"""Streaming, with an answer that does what the test says."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.api import streams
from app.api.forms import JsonLines, Line
from app.api.streams import stream


class FakeAnswer:
    """Says what it is told to; None is a moment with nothing to say."""

    def __init__(self, script: list[Line | float | None]) -> None:
        self._script = script
        self.complete_up_to = 0
        self.steps = 0

    def start(self) -> Line:
        return Line("start", '{"type":"start"}')

    def rest(self) -> Iterator[Line | None]:
        for entry in self._script:
            self.steps += 1
            if isinstance(entry, float):
                time.sleep(entry)
                yield None
            else:
                if entry is not None and entry.kind == "progress":
                    self.complete_up_to = json.loads(entry.text)["complete_up_to"]
                yield entry

    def progress(self, complete_up_to: int) -> Line:
        return Line("progress", json.dumps({"type": "heartbeat", "complete_up_to": complete_up_to}))


def answer_line(number: int) -> Line:
    return Line("counterfactual", json.dumps({"type": "counterfactual", "rank": number}))


def level(size: int) -> Line:
    return Line("progress", json.dumps({"type": "progress", "complete_up_to": size}))


SUMMARY = Line("summary", '{"type":"summary"}')


def streamed(answer: FakeAnswer, pool: ThreadPoolExecutor) -> AsyncIterator[bytes]:
    form = JsonLines()
    return stream(answer, form, pool, form.frame(answer.start()), answer.rest())


def pieces_of(script: list[Line | float | None]) -> list[list[dict]]:
    async def collect() -> list[str]:
        with ThreadPoolExecutor(1) as pool:
            return [piece.decode() async for piece in streamed(FakeAnswer(script), pool)]

    return [[json.loads(line) for line in piece.splitlines()] for piece in asyncio.run(collect())]


def test_a_small_answer_is_one_piece():
    (piece,) = pieces_of([answer_line(1), level(1), SUMMARY])
    assert [line["type"] for line in piece] == ["start", "counterfactual", "progress", "summary"]


def test_the_start_does_not_wait_for_a_slow_search():
    first, *_ = pieces_of([0.2, answer_line(1), SUMMARY])
    assert [line["type"] for line in first] == ["start"]


def test_a_long_search_is_heard_of(monkeypatch: pytest.MonkeyPatch):
    """In one long step, and in many short ones with nothing to say."""
    monkeypatch.setattr(streams, "PROGRESS_SECONDS", 0.05)
    for silence in ([0.3], [0.03] * 10):
        lines = [line for piece in pieces_of([*silence, SUMMARY]) for line in piece]
        assert [line["type"] for line in lines].count("heartbeat") >= 2


def test_progress_never_speaks_of_answers_that_have_not_been_sent(monkeypatch: pytest.MonkeyPatch):
    """The level is finished, and its answer held back, while the next step takes its time."""
    monkeypatch.setattr(streams, "PROGRESS_SECONDS", 0.05)
    script = [answer_line(1), level(1), 0.3, answer_line(2), level(2), 0.3, SUMMARY]
    sent = 0
    for piece in pieces_of(script):
        for line in piece:
            sent += line["type"] == "counterfactual"
            if "complete_up_to" in line:
                assert line["complete_up_to"] <= sent


def test_a_search_that_nobody_reads_does_not_go_on():
    """Each step takes as long as a piece may; the reader leaves after the first."""

    async def leave() -> tuple[int, int]:
        answer = FakeAnswer([0.05] * 20 + [SUMMARY])
        with ThreadPoolExecutor(1) as pool:
            lines = streamed(answer, pool)
            await anext(lines)
            await lines.aclose()
            after = answer.steps
            await asyncio.sleep(0.3)
        return after, answer.steps

    after, later = asyncio.run(leave())
    assert later - after <= 1
