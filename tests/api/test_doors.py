"""What holds for the main door holds for every other: slots, threads for long bodies, bounded memory, turns."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from app.answering.on_the_loop import MOST_BYTES
from app.answering.service import Searchers, Service
from app.api.addresses import client_of
from app.api.kserve import explaining
from app.main import create_app
from app.recording.replaying import replaying
from app.settings import Settings
from tests.live.asking import PERSON
from tests.support.live_server import ROOT
from tests.support.waiting import PATIENCE

FOLDERS = {"models_dir": ROOT / "models", "normal_ranges_dir": ROOT / "normal_ranges"}
PANEL = json.loads((ROOT / "docs/examples/liver-panel.fhir.json").read_text())
V1 = {"instances": [PERSON, PERSON]}
V2 = {"inputs": [{"name": "all", "shape": [1, 4], "datatype": "FP64", "data": list(PERSON.values())}]}
HOOK = {
    "hook": "patient-view",
    "hookInstance": "d1577c69-dfbe-44ad-ba6d-3e05e953b2ea",
    "context": {"userId": "Practitioner/example", "patientId": "anna"},
    "prefetch": {"patient": PANEL["entry"][0]["resource"], "observations": {**PANEL, "entry": PANEL["entry"][1:]}},
}


def asking(app: FastAPI, work: Callable[[httpx.AsyncClient], Awaitable[None]]) -> None:
    async def run() -> None:
        transport = httpx.ASGITransport(app, client=("192.0.2.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://here", timeout=PATIENCE) as client:
            await work(client)

    asyncio.run(run())


class Counting(Searchers):
    """Threads that count what they are given to do."""

    given = 0

    def submit(self, *args: Any, **options: Any) -> Any:
        self.given += 1
        return super().submit(*args, **options)


@pytest.mark.parametrize(
    ("path", "body", "more"),
    [
        ("/v1/models/synthetic:explain", V1, 2),
        ("/v1/models/synthetic:predict", V1, 1),
        ("/v2/models/synthetic/infer", V2, 1),
        ("/cds-services/hcv", HOOK, 1),
        ("/v1/models/hcv/counterfactuals", PANEL, 1),
    ],
)
def test_the_threads_read_what_is_long(path: str, body: dict[str, Any], more: int):
    """On the event loop, two megabytes of Observations would hold up everybody for half a second."""
    app = create_app(Settings(**FOLDERS))
    service: Service = app.state.service
    headers = {"Content-Type": "application/fhir+json" if body is PANEL else "application/json"}

    async def ask(client: httpx.AsyncClient) -> None:
        given = []
        for text in (json.dumps(body), json.dumps(body) + " " * MOST_BYTES):
            service.predictors = threads = Counting(1)
            assert (await client.post(path, content=text, headers=headers)).status_code == 200
            given.append(threads.given)
        assert given[1] == given[0] + more

    asking(app, ask)


def test_explanations_are_held_up_to_a_size(monkeypatch: pytest.MonkeyPatch):
    """A model of a thousand features came to a gigabyte of text, all of it held."""
    app = create_app(Settings(**FOLDERS))
    path = "/v1/models/synthetic:explain"

    async def ask(client: httpx.AsyncClient) -> None:
        whole = await client.post(path, json=V1)
        one = len(json.dumps(whole.json()["explanations"][0], separators=(",", ":")))
        # Room for one of both.
        monkeypatch.setattr(explaining, "MOST_CHARACTERS", one * 3 // 2)
        refused = await client.post(path, json=V1)
        assert refused.status_code == 422
        (error,) = refused.json()["errors"]
        assert error["field"] == "limits.max_counterfactuals"
        assert "/counterfactuals" in error["message"]
        assert (await client.post(path, json={"instances": [PERSON]})).status_code == 200

    asking(app, ask)


def test_a_replay_is_a_request_like_any_other(tmp_path: Path):
    """It counts among its client's, and takes turns."""
    app = create_app(Settings(records=f"sqlite:///{tmp_path}/r.db", max_searches_per_client=1, **FOLDERS))
    service: Service = app.state.service

    async def ask(client: httpx.AsyncClient) -> None:
        body = {"instance": PERSON, "record": {"subject": "p"}}
        answer = await client.post("/v1/models/synthetic/counterfactuals", json=body)
        path = f"/v1/records/{answer.headers['Flipset-Record']}"
        while (await client.get(path)).json().get("state") != "kept":
            await asyncio.sleep(0.01)
        with service.shares.one_more(client_of({"type": "http", "client": ("192.0.2.1", 1)})):
            refused = await client.post(f"{path}/replay")
        assert refused.status_code == 429
        assert refused.headers["Retry-After"]
        assert (await client.post(f"{path}/replay")).json()["same"]
        recorder = app.state.recorder
        record = recorder.store.find(answer.headers["Flipset-Record"])
        assert sum(1 for _ in replaying(record, service, recorder.versions, "")) >= answer.text.count("\n")

    asking(app, ask)
