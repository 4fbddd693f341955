"""A bounded part of `make fuzz`, always the same, and that its judge knows a defect when it sees one."""

import json

import pytest

from lab.fuzz.inputs import Examples, inputs, make_input
from lab.fuzz.judging import Defect, Reply, judge
from lab.fuzz.running import fuzz_app, fuzz_records, fuzz_server
from tests.support.live_server import ROOT, LiveServer
from tests.support.scale import scaled
from tests.support.seeds import Seeds

EXAMPLES = Examples(ROOT / "models")
WORK = "/v1/models/hcv/counterfactuals"
LINES = {"content-type": "application/x-ndjson"}
PROBLEM = {"content-type": "application/problem+json"}
REFUSAL = {"type": "t", "title": "t", "status": 503, "detail": "d", "errors": []}


@pytest.mark.parametrize("seed", Seeds(2, 1))
def test_whatever_is_sent_the_answer_is_no_defect(seed: int):
    outcome = fuzz_app(inputs(EXAMPLES, seed, range(scaled(1_000))), ROOT / "models", ROOT / "normal_ranges")
    assert outcome.failures == []
    assert {200, 400, 404, 405, 415, 422} <= set(outcome.statuses)


def test_nor_is_it_over_the_network(server: LiveServer):
    (seed,) = Seeds(1, 3)
    assert fuzz_server(inputs(EXAMPLES, seed, range(scaled(100))), server.url).failures == []
    assert server.process.poll() is None


def test_an_input_is_made_from_its_seed_and_number_alone():
    assert list(inputs(EXAMPLES, 1, range(20)))[-1] == make_input(EXAMPLES, 1, 19)
    assert make_input(EXAMPLES, 1, 19) != make_input(EXAMPLES, 2, 19)


@pytest.mark.parametrize(
    ("reply", "what"),
    [
        (Reply(500, PROBLEM, json.dumps({**REFUSAL, "status": 500}).encode()), "a status 500"),
        (Reply(503, PROBLEM, json.dumps(REFUSAL).encode()), "a status 503"),
        (Reply(422, {"content-type": "text/plain"}, b"no"), "a refusal as 'text/plain'"),
        (Reply(422, PROBLEM, json.dumps(REFUSAL).encode()), "does not say what it is"),
        (Reply(200, LINES, b'{"type":"start"}\n'), "without its last line"),
        (Reply(200, LINES, b'{"type":"error","problem":{"status":500}}\n'), "broke down"),
        (Reply(200, LINES, b'{"type":"summary","count":NaN}\n'), "holds NaN"),
    ],
)
def test_a_defect_is_seen(reply: Reply, what: str):
    with pytest.raises(Defect, match=what):
        judge("POST", WORK, reply)


def test_nor_is_it_on_the_paths_of_the_records():
    (seed,) = Seeds(1, 4)
    outcome = fuzz_records(EXAMPLES, seed, range(scaled(300)), ROOT / "models", ROOT / "normal_ranges")
    assert outcome.failures == []
    assert {200, 400, 404, 405, 422} <= set(outcome.statuses)
