"""`make soak` in a few seconds, and that its verdict knows what must not be."""

import asyncio
from dataclasses import replace

import pytest

from lab.soak.clients import Ground, ask_on, judge_cut
from lab.soak.processes import Held
from lab.soak.questions import Question, is_whole, small_questions, timeless
from lab.soak.running import Plan, Result, soak
from lab.soak.tally import Tally
from lab.soak.verdict import flaws
from tests.support.live_server import LiveServer

QUIET = Plan(seconds=300, workers=2, kill=False)
HELD = {1: Held(8, 20), 2: Held(8, 20)}


def calm() -> Result:
    """A soak that found nothing."""
    tally = Tally()
    tally.count("small search", "equal")
    return Result(QUIET, tally, HELD, HELD, [(float(second), 400.0) for second in range(300)])


@pytest.mark.slow
def test_a_short_soak_finds_nothing():
    result = soak(Plan(seconds=8, workers=2, kill=False, warm_up=2, quiet=1))
    # The pools of threads are not given the time to shrink: they are counted by the long one.
    leaks = ("threads; before",)
    assert [flaw for flaw in flaws(result) if not any(leak in flaw for leak in leaks)] == []


def test_a_calm_soak_passes():
    assert list(flaws(calm())) == []


@pytest.mark.parametrize(
    ("seen", "flaw"),
    [
        ({"after": {1: Held(11, 20), 2: Held(8, 20)}}, "worker 1 has 11 threads"),
        ({"after": {1: Held(8, 20), 2: Held(8, 21)}}, "worker 2 has 21 open files"),
        ({"after": {1: Held(8, 20)}}, "1 workers are there where 2 should be"),
        ({"in_flight": 1.0}, "1 searches are still in flight"),
        ({"idle_share": 0.5}, "the workers still use 50% of a processor"),
        ({"samples": [(float(second), 400.0 + second) for second in range(300)]}, "the memory was"),
        ({"log_flaws": ["Traceback (most recent call last):"]}, "the server's log holds"),
    ],
)
def test_what_is_left_behind_is_a_flaw(seen: dict[str, object], flaw: str):
    (found,) = flaws(replace(calm(), **seen))
    assert found.startswith(flaw)


def test_a_status_that_may_not_be_is_a_flaw():
    tally = calm().tally
    tally.status("small search", 500, {})
    tally.status("small search", 503, {})
    tally.status("small search", 503, {"retry-after": "5"})
    assert tally.wrong == ["small search: a status 500", "small search: a 503 without Retry-After"]


def test_an_answer_is_compared_without_its_times_alone():
    one = b'{"type":"summary","count":1,"elapsed_ms":{"total":1.5,"search":0.1},"changed_in":{}}\n'
    other = one.replace(b"1.5", b"22.75")
    assert timeless(one) == timeless(other) != timeless(one.replace(b'"count":1', b'"count":2'))
    progress = b'{"type":"progress","complete_up_to":1,"model_rows":5,"elapsed_ms":3.5}\n'
    assert timeless(progress + one) == timeless(one)
    assert timeless(b"event: progress\ndata: " + progress + b"\n" + one) == timeless(one)


def test_a_cut_answer_has_no_last_line():
    question = Question("small search", "POST", "/v1/models/hcv/counterfactuals", "*/*")
    assert is_whole(question, b'{"type":"start"}\n{"type":"summary","count":0}\n')
    assert not is_whole(question, b'{"type":"start"}\n{"type":"counterfactual","rank":1}\n')


class UntilWrong(Ground):
    """Goes on until something was wrong."""

    @property
    def goes_on(self) -> bool:
        return not self.tally.wrong


def test_another_answer_than_the_idle_servers_is_a_flaw(server: LiveServer):
    """The clients do look: here they expect what no server says."""
    questions = small_questions()
    expected = dict.fromkeys(questions, b"something else")
    ground = UntilWrong(int(server.url.rpartition(":")[2]), 0.0, Tally(), expected, may_be_cut=False)
    asyncio.run(ask_on(ground, questions, seed=1))
    assert ground.tally.answers == 0
    assert "another answer than the idle server's" in ground.tally.wrong[0]


@pytest.mark.parametrize("form", ["application/x-ndjson", "text/event-stream"])
def test_what_came_before_a_cut_is_the_beginning_of_the_answer(form: str):
    lines = [b'{"type":"start"}', b'{"type":"progress","elapsed_ms":1}', b'{"type":"counterfactual","rank":1}']
    kinds = [b"start", b"progress", b"counterfactual"]
    if form == "text/event-stream":
        pieces = [b"event: %b\ndata: %b\n\n" % pair for pair in zip(kinds, lines, strict=True)]
    else:
        pieces = [b"%b\n" % line for line in lines]
    whole = b"".join(pieces)
    question = Question("large search", "POST", "/v1/models/wide/counterfactuals", form)
    ground = Ground(0, 0.0, Tally(), {question: timeless(whole)}, may_be_cut=True)
    for length in range(len(whole)):
        judge_cut(ground, question, whole[:length])
    assert ground.tally.wrong == []
    judge_cut(ground, question, whole.replace(b'"rank":1', b'"rank":2'))
    judge_cut(ground, question, whole + b'{"type":"summary"}')
    assert ground.tally.wrong[0] == "large search: cut, and what came before is wrong"
    assert "large search: cut, and yet with a last line" in ground.tally.wrong
