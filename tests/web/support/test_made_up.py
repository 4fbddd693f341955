"""The models that the tests of the page ask for what the shipped ones do not show."""

import json
from collections.abc import Iterator

import httpx
import pytest

from tests.live.asking import ask, changed_sets, lines_of
from tests.support.live_server import LiveServer
from tests.support.loans import PERSON
from tests.web.support.made_up import PATIENT, SLOW, WIDE, WIDE_PLANS


@pytest.fixture
def client(made_up: LiveServer) -> Iterator[httpx.Client]:
    with made_up.client() as connected:
        yield connected


def test_one_has_more_plans_than_a_page_can_show(client: httpx.Client):
    lines = lines_of(ask(client, {"instance": dict.fromkeys(WIDE, 0)}, "wide"))
    assert (lines[-1]["count"], lines[-1]["complete"]) == (WIDE_PLANS, True)


def test_one_tells_its_first_plan_and_then_searches_on(client: httpx.Client):
    """Until its deadline, if nobody stops it."""
    for deadline_ms in (1_500, 5_000, 30_000):
        body = {"instance": dict.fromkeys(SLOW, 0), "limits": {"deadline_ms": deadline_ms}}
        lines = lines_of(ask(client, body, "slow"))
        if changed_sets(lines):
            break
    assert changed_sets(lines) == [{"s1"}]
    assert (lines[-1]["stopped_by"], lines[-1]["complete"]) == ("deadline", False)


def test_one_predicts_a_number(client: httpx.Client):
    lines = lines_of(ask(client, {"instance": PATIENT}, "pressure"))
    assert lines[0]["prediction"]["score"] == pytest.approx(146.1)
    assert changed_sets(lines) == [{"salt", "bmi"}, {"salt", "steps"}, {"bmi", "steps"}]


def test_one_has_categories_and_missing_values(client: httpx.Client):
    assert len(changed_sets(lines_of(ask(client, {"instance": PERSON}, "loans")))) == 3


def test_each_has_an_example_that_is_answered(client: httpx.Client):
    for model in ("wide", "loans", "pressure"):
        for example in client.get(f"/v1/models/{model}/examples").json()["examples"]:
            assert lines_of(ask(client, example["request"], model))[-1]["outcome"] == "found", json.dumps(example)
