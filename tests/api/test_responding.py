"""An answer in one piece where it is quick, and in a stream where it is not; with an answer that does as it is told."""

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from fastapi.responses import StreamingResponse

from app.api import responding
from app.api.forms import EventStream, JsonLines, Line, OneObject
from app.api.responding import answered

LINES = [Line("counterfactual", '{"rank":1}'), Line("progress", '{"up_to":1}'), Line("summary", '{"count":1}')]
FORMS = [JsonLines, EventStream, OneObject]


class FakeAnswer:
    """Waits before each line for as long as it is told to."""

    seconds_left = 60.0

    def __init__(self, *, is_prompt: bool, seconds: float = 0.0) -> None:
        self.is_prompt = is_prompt
        self.complete_up_to = 0
        self._seconds = seconds

    def start(self) -> Line:
        return Line("start", '{"a":1}')

    def rest(self) -> Iterator[Line | None]:
        for line in LINES:
            time.sleep(self._seconds)
            yield line


class FakeService:
    """Remembers what has ended."""

    def __init__(self, searchers: ThreadPoolExecutor) -> None:
        self.searchers = searchers
        self.ended: list[FakeAnswer] = []

    def leave_the_loop(self, answer: FakeAnswer) -> None:
        """Nobody has waited."""

    def end(self, answer: FakeAnswer) -> None:
        self.ended.append(answer)


def sent(answer: FakeAnswer, form) -> tuple[list[bytes], bool, FakeService]:
    """The pieces of the body, whether they were a stream, and the service afterwards."""

    async def send_all() -> tuple[list[bytes], bool, FakeService]:
        pieces: list[bytes] = []

        async def send(message) -> None:
            pieces.append(message.get("body", b""))

        async def receive():
            await asyncio.sleep(60)

        with ThreadPoolExecutor(1) as pool:
            service = FakeService(pool)
            response = answered(answer, form, service)
            await response({"type": "http"}, receive, send)
        return [piece for piece in pieces if piece], isinstance(response, StreamingResponse), service

    return asyncio.run(send_all())


def whole(form) -> bytes:
    return "".join(form.frame(line) for line in [Line("start", '{"a":1}'), *LINES]).encode()


@pytest.mark.parametrize("make_form", FORMS)
def test_a_quick_answer_is_one_piece_of_known_length(make_form, monkeypatch: pytest.MonkeyPatch):
    # Quick also on a machine that has other work.
    monkeypatch.setattr(responding, "ON_THE_LOOP_SECONDS", 60.0)
    answer = FakeAnswer(is_prompt=True)
    pieces, streamed, service = sent(answer, make_form())
    assert (pieces, streamed) == ([whole(make_form())], False)
    assert service.ended == [answer]


@pytest.mark.parametrize("make_form", FORMS)
def test_any_other_answer_is_a_stream_of_the_same_bytes(make_form):
    answer = FakeAnswer(is_prompt=False)
    pieces, streamed, service = sent(answer, make_form())
    assert (b"".join(pieces), streamed) == (whole(make_form()), True)
    assert service.ended == [answer]


@pytest.mark.parametrize("make_form", FORMS)
def test_what_is_not_there_in_time_follows_in_a_stream(make_form, monkeypatch: pytest.MonkeyPatch):
    """Thought to be quick, and not: no line is lost, none comes twice."""
    monkeypatch.setattr(responding, "ON_THE_LOOP_SECONDS", 0.0)
    answer = FakeAnswer(is_prompt=True, seconds=0.03)
    pieces, streamed, service = sent(answer, make_form())
    assert streamed
    assert len(pieces) > 1
    assert b"".join(pieces) == whole(make_form())
    assert service.ended == [answer]
