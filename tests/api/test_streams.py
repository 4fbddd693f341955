"""Streaming, with an answer that does what the test says."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

from app.api import streams
from app.api.streams import stream
from tests.support.waiting import PATIENCE

# What an answer does: it says a line, or it does something else for a while and says nothing.
Line = dict[str, Any]
Step = Line | Callable[[], object]


class FakeAnswer:
    """Does one step after the other."""

    seconds_left = 60.0

    def __init__(self, script: list[Step]) -> None:
        self.script = script
        self.is_waiting = False
        self.complete_up_to = 0
        self.steps = 0

    def events(self) -> Iterator[Line | None]:
        yield {"type": "start"}
        for entry in self.script:
            self.steps += 1
            if not isinstance(entry, dict):
                entry()
                yield None
            else:
                self.complete_up_to = entry.get("complete_up_to", self.complete_up_to)
                yield entry

    def progress(self, complete_up_to: int) -> Line:
        return {"type": "heartbeat", "complete_up_to": complete_up_to}

    def failed(self, error: Exception) -> Line:
        return {"type": "error", "problem": type(error).__name__}


class Reader:
    """Reads pieces as they come. A search can wait until it has read so many lines of a kind."""

    def __init__(self) -> None:
        self.pieces: list[list[dict]] = []
        self._wanted: list[tuple[str, int, Event]] = []

    def has_read(self, kind: str, count: int = 1) -> Callable[[], object]:
        """A step that lasts until then."""
        event = Event()
        self._wanted.append((kind, count, event))
        return lambda: event.wait(PATIENCE)

    def read(self, script: list[Step]) -> list[list[dict]]:
        asyncio.run(self._read(FakeAnswer(script)))
        return self.pieces

    async def _read(self, answer: FakeAnswer) -> None:
        with ThreadPoolExecutor(1) as pool:
            async for piece in streamed(answer, pool):
                self.pieces.append([json.loads(line) for line in piece.decode().splitlines()])
                kinds = [line["type"] for piece in self.pieces for line in piece]
                for kind, count, event in self._wanted:
                    if kinds.count(kind) >= count:
                        event.set()


def answer_line(number: int) -> Line:
    return {"type": "counterfactual", "rank": number}


def level(size: int) -> Line:
    return {"type": "progress", "complete_up_to": size}


SUMMARY = {"type": "summary"}


def streamed(answer: FakeAnswer, pool: ThreadPoolExecutor) -> AsyncIterator[bytes]:
    events = answer.events()
    return stream(answer, present, pool, present(next(events)), events)


def present(event: Line | None) -> str:
    return "" if event is None else f"{json.dumps(event)}\n"


def test_a_small_answer_is_one_piece(monkeypatch: pytest.MonkeyPatch):
    # However busy the machine is.
    monkeypatch.setattr(streams, "START_SECONDS", PATIENCE)
    monkeypatch.setattr(streams, "FLUSH_SECONDS", PATIENCE)
    (piece,) = Reader().read([answer_line(1), level(1), SUMMARY])
    assert [line["type"] for line in piece] == ["start", "counterfactual", "progress", "summary"]


def test_the_start_does_not_wait_for_a_slow_search():
    reader = Reader()
    first, *_ = reader.read([reader.has_read("start"), answer_line(1), SUMMARY])
    assert [line["type"] for line in first] == ["start"]


def test_a_long_step_is_heard_of(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(streams, "PROGRESS_SECONDS", 0.01)
    reader = Reader()
    reader.read([reader.has_read("heartbeat", 2), SUMMARY])


def test_a_search_that_does_not_end_is_told_of_and_not_cut(monkeypatch: pytest.MonkeyPatch):
    """It ends once the reader has heard that it is late."""
    monkeypatch.setattr(streams, "LATE_SECONDS", 0.01)
    monkeypatch.setattr(FakeAnswer, "seconds_left", 0.0)
    reader = Reader()
    pieces = reader.read([reader.has_read("error"), SUMMARY])
    assert pieces[-1] == [{"type": "error", "problem": "Busy"}]


def test_what_cannot_be_written_is_told_of_and_not_cut():
    pieces = Reader().read([answer_line(1), {"type": "counterfactual", "rank": object()}, SUMMARY])
    assert pieces[-1][-1] == {"type": "error", "problem": "TypeError"}


def test_many_short_steps_with_nothing_to_say_are_heard_of(monkeypatch: pytest.MonkeyPatch):
    """Each lasts as long as a piece may."""
    monkeypatch.setattr(streams, "PROGRESS_SECONDS", 0.01)
    monkeypatch.setattr(streams, "FLUSH_SECONDS", 0.0)
    heard = asyncio.run(_heard_of(FakeAnswer([lambda: None] * 1_000_000)))
    assert heard == ["start", "heartbeat", "heartbeat"]


async def _heard_of(answer: FakeAnswer) -> list[str]:
    with ThreadPoolExecutor(1) as pool:
        lines = streamed(answer, pool)
        pieces = [json.loads(await anext(lines)) for _ in range(3)]
        await lines.aclose()
    return [piece["type"] for piece in pieces]


def test_progress_never_speaks_of_answers_that_have_not_been_sent(monkeypatch: pytest.MonkeyPatch):
    """The level is finished, and its answer held back, while the next step lasts until somebody has heard of it."""
    monkeypatch.setattr(streams, "PROGRESS_SECONDS", 0.01)
    monkeypatch.setattr(streams, "FLUSH_SECONDS", PATIENCE)
    reader = Reader()
    script = [answer_line(1), level(1), reader.has_read("heartbeat", 1), answer_line(2), level(2)]
    sent = 0
    for piece in reader.read([*script, reader.has_read("heartbeat", 2), SUMMARY]):
        for line in piece:
            sent += line["type"] == "counterfactual"
            if "complete_up_to" in line:
                assert line["complete_up_to"] <= sent


def test_a_search_that_nobody_reads_does_not_go_on(monkeypatch: pytest.MonkeyPatch):
    """Each step lasts as long as a piece may; the reader leaves after the first."""
    monkeypatch.setattr(streams, "FLUSH_SECONDS", 0.0)
    answer = FakeAnswer([lambda: None] * 1_000_000)

    async def leave() -> int:
        with ThreadPoolExecutor(1) as pool:
            lines = streamed(answer, pool)
            await anext(lines)
            await lines.aclose()
            return answer.steps

    after = asyncio.run(leave())
    # By now the thread that searched has ended.
    assert answer.steps - after <= 1


class Turns(ThreadPoolExecutor):
    """Counts how often it is given something to do."""

    count = 0

    def submit(self, *work, **options):
        self.count += 1
        return super().submit(*work, **options)


def test_a_search_that_waits_for_others_takes_no_time_from_them(monkeypatch: pytest.MonkeyPatch):
    """It looks once a turn whether it can go on, and its turns are far apart."""
    monkeypatch.setattr(streams, "WAIT_SECONDS", 0.001)
    # However busy the machine is, its last turn does not end before the summary.
    monkeypatch.setattr(streams, "FLUSH_SECONDS", PATIENCE)
    answer = FakeAnswer([])

    def waiting(is_waiting: bool) -> Callable[[], object]:
        return lambda: setattr(answer, "is_waiting", is_waiting)

    answer.script = [waiting(is_waiting=True)] * 5 + [waiting(is_waiting=False)] * 5 + [SUMMARY]

    async def turns() -> int:
        with Turns(1) as pool:
            pieces = [piece async for piece in streamed(answer, pool)]
            assert pieces[-1].endswith(b'{"type": "summary"}\n')
            return pool.count

    assert asyncio.run(turns()) == 6
