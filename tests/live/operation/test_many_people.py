"""Many people at once: nobody is refused, nobody gets another's answer, and nobody waits for a heavy one."""

import json
import re
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from tests.live import endless
from tests.live.asking import PATH, PERSON, ask, lines_of, refused
from tests.support.live_server import ROOT, LiveServer, live_server
from tests.support.waiting import eventually

FORMS = ("application/x-ndjson", "application/json", "text/event-stream", "application/jsonl")


def people(count: int) -> list[tuple[str, dict[str, Any], str]]:
    """Different people, asking different models in different forms."""
    rng = np.random.default_rng(7)
    asked = []
    for number in range(count):
        model = ("hcv", "mortgage", "synthetic", "thyroid")[number % 4]
        examples = sorted((ROOT / "models" / model / "examples").glob("*.json"))
        request = json.loads(examples[number % len(examples)].read_text())
        for name, value in request["instance"].items():
            if isinstance(value, float):
                request["instance"][name] = round(value * rng.uniform(0.8, 1.25), 4)
        asked.append((model, request, FORMS[number // 4 % 4]))
    return asked


def timeless(text: str) -> str:
    return re.sub(r'"elapsed_ms":(\{[^}]*\}|[0-9.]+)', "", text)


@pytest.mark.slow
def test_forty_people_at_once_each_get_the_answer_that_they_would_get_alone():
    """With the settings that a server has by itself, deadlines aside, and all of them starting together."""
    asked = people(40)
    assert len({json.dumps(request) for _, request, _ in asked}) == 40
    with live_server(default_deadline_ms=str(endless.HOUR_MS), **endless.SETTINGS) as server:

        def answer(person: tuple[str, dict[str, Any], str]) -> tuple[int, str]:
            model, request, form = person
            with server.client() as client:
                response = ask(client, request, model, form)
            return response.status_code, timeless(response.text)

        alone = [answer(person) for person in asked]
        together = threading.Barrier(40)

        def at_once(person: tuple[str, dict[str, Any], str]) -> list[tuple[int, str]]:
            together.wait()
            return [answer(person) for _ in range(3)]

        with ThreadPoolExecutor(40) as threads:
            answers = list(threads.map(at_once, asked))
    assert {status for status, _ in alone} == {200}
    assert answers == [[one] * 3 for one in alone]
    assert len({text for _, text in alone}) == 40


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A search without end beside quick ones."""
    folder = endless.write_endless(tmp_path_factory.mktemp("mixed"))
    shutil.copytree(ROOT / "models/synthetic", folder / "models/synthetic")
    shutil.copy(ROOT / "normal_ranges/synthetic.toml", folder / "ranges")
    with live_server(folder / "models", folder / "ranges", **endless.SETTINGS) as running:
        yield running


def test_small_requests_are_answered_while_heavy_ones_are_under_way(mixed: LiveServer):
    """Eight heavy ones, and small ones of both kinds: those that are answered at once, and those that need a thread."""
    small = {"instance": PERSON, "limits": {"deadline_ms": endless.HOUR_MS}}
    threaded = {**small, "constraints": {"formulas": ["A or B"]}}
    begun, leave = threading.Barrier(9), threading.Event()
    ended: list[str] = []

    def ask_much() -> None:
        with mixed.client() as client, client.stream("POST", endless.PATH, json=endless.request()) as response:
            lines = response.iter_lines()
            next(lines)
            begun.wait()
            for line in lines:
                if leave.is_set():
                    return
                if '"type":"summary"' in line:
                    ended.append(line)

    threads = [threading.Thread(target=ask_much) for _ in range(8)]
    for thread in threads:
        thread.start()
    begun.wait()
    with mixed.client() as client:
        for body in [small, threaded] * 5:
            assert lines_of(ask(client, body))[-1]["complete"]
    still_under_way = 8 - len(ended)
    leave.set()
    for thread in threads:
        thread.join()
    assert still_under_way == 8


@pytest.mark.slow
def test_a_long_body_does_not_hold_up_a_small_request(mixed: LiveServer):
    """A megabyte of mistakes takes a while to check: small requests are answered meanwhile.

    Seldom three of them, if the machine lets nobody ask so often meanwhile; never, if they have to wait.
    """
    mistakes = {"instance": {f"k{number}": [] for number in range(70_000)}}
    body = json.dumps(mistakes).encode()

    def refusal() -> dict[str, str]:
        with mixed.client() as client:
            headers = {"content-type": "application/json"}
            return refused(client.post(PATH, content=body, headers=headers), 422)

    def answered_meanwhile() -> int:
        asked, answered = threads.submit(refusal), 0
        while not asked.done():
            lines_of(ask(client, {"instance": PERSON}))
            answered += 1
        assert list(asked.result()) == ["instance"]
        assert "holds more than 20,000 entries" in asked.result()["instance"]
        return answered

    with mixed.client() as client, ThreadPoolExecutor(1) as threads:
        lines_of(ask(client, {"instance": PERSON}))
        eventually(lambda: answered_meanwhile() >= 3)
