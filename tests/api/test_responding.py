"""An answer in one piece where it is quick, and in a stream where it is not; with an answer that does as it is told."""

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from app.adapters.graphs.pacing import MOST_PROMPT_ROWS
from app.answering.on_the_loop import LoopHeldUp, TurnOnTheLoop
from app.api import responding
from app.api.responding import AnswerStream, answered
from app.main import create_app
from app.settings import Settings
from app.writing.forms import EventStream, JsonLines, OneObject
from tests.live.asking import PATH, PERSON
from tests.support.live_server import ROOT

# An event is here what is sent of it: its kind, and its text.
START = ("start", '{"a":1}')
EVENTS = [("counterfactual", '{"rank":1}'), ("progress", '{"up_to":1}'), ("summary", '{"count":1}')]
FORMS = [JsonLines, EventStream, OneObject]


class FakeAnswer:
    """Waits before each event for as long as it is told to."""

    seconds_left = 60.0
    is_waiting = False

    def __init__(self, *, is_prompt: bool, seconds: float = 0.0) -> None:
        self.is_prompt = is_prompt
        self.complete_up_to = 0
        self._seconds = seconds

    def events(self) -> Iterator[tuple[str, str]]:
        yield START
        for event in EVENTS:
            time.sleep(self._seconds)
            yield event


def sent(answer: FakeAnswer, form) -> tuple[list[bytes], bool]:
    """The pieces of the body, and whether they were a stream, whose life has then ended."""

    async def send_all() -> tuple[list[bytes], bool]:
        pieces: list[bytes] = []

        async def send(message) -> None:
            pieces.append(message.get("body", b""))

        async def receive():
            await asyncio.sleep(60)

        with ThreadPoolExecutor(1) as pool:
            response = answered(answer, lambda event: form.frame(*event), form.media_type, pool)
            streamed, ended = isinstance(response, AnswerStream), []
            if streamed:
                response.life.callback(ended.append, True)
            await response({"type": "http"}, receive, send)
            assert ended == [True] * streamed
        return [piece for piece in pieces if piece], streamed

    return asyncio.run(send_all())


def whole(form) -> bytes:
    return "".join(form.frame(*event) for event in [START, *EVENTS]).encode()


@pytest.mark.parametrize("make_form", FORMS)
def test_a_quick_answer_is_one_piece_of_known_length(make_form, monkeypatch: pytest.MonkeyPatch):
    # Quick also on a machine that has other work.
    monkeypatch.setattr(responding, "ON_THE_LOOP_SECONDS", 60.0)
    answer = FakeAnswer(is_prompt=True)
    pieces, streamed = sent(answer, make_form())
    assert (pieces, streamed) == ([whole(make_form())], False)


@pytest.mark.parametrize("make_form", FORMS)
def test_any_other_answer_is_a_stream_of_the_same_bytes(make_form):
    answer = FakeAnswer(is_prompt=False)
    pieces, streamed = sent(answer, make_form())
    assert (b"".join(pieces), streamed) == (whole(make_form()), True)


@pytest.mark.parametrize("make_form", FORMS)
def test_what_is_not_there_in_time_follows_in_a_stream(make_form, monkeypatch: pytest.MonkeyPatch):
    """Thought to be quick, and not: no line is lost, none comes twice."""
    monkeypatch.setattr(responding, "ON_THE_LOOP_SECONDS", 0.0)
    answer = FakeAnswer(is_prompt=True, seconds=0.03)
    pieces, streamed = sent(answer, make_form())
    assert streamed
    assert len(pieces) > 1
    assert b"".join(pieces) == whole(make_form())


@pytest.mark.parametrize("make_form", FORMS)
def test_a_search_that_ends_late_is_sent_to_who_reads(make_form, monkeypatch: pytest.MonkeyPatch):
    """A busy machine has kept it from its work: its reader is not to blame."""
    monkeypatch.setattr(responding, "READING_SECONDS", 0.0)
    monkeypatch.setattr(FakeAnswer, "seconds_left", 0.0)
    pieces, streamed = sent(FakeAnswer(is_prompt=False, seconds=0.03), make_form())
    assert (b"".join(pieces), streamed) == (whole(make_form()), True)


class HeldUp(TurnOnTheLoop):
    """A turn that the watchdog has found too long just before its end."""

    def leave(self) -> None:
        raise LoopHeldUp


def test_an_answer_that_is_begun_again_in_a_thread_repeats_nothing(monkeypatch: pytest.MonkeyPatch):
    """What the event loop had already made is dropped; one JSON object must not remember its answers."""
    app = create_app(Settings(models_dir=ROOT / "models", normal_ranges_dir=ROOT / "normal_ranges"))
    # As on a machine that had nothing else to do when the model was tried.
    app.state.service.catalog.models["synthetic"].scorer.prompt_rows = MOST_PROMPT_ROWS
    monkeypatch.setattr(responding, "ON_THE_LOOP_SECONDS", 60.0)
    monkeypatch.setattr(responding, "TurnOnTheLoop", HeldUp)

    async def asked() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here") as client:
            headers = {"accept": "application/json"}
            return await client.post(PATH, json={"instance": PERSON}, headers=headers)

    answer = asyncio.run(asked()).json()
    assert len(answer["counterfactuals"]) == answer["summary"]["count"] > 0
