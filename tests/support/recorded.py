"""Answers that are recorded in this process, without a server."""

import asyncio
import json
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any

from app.adapters.catalog import load_catalog
from app.adapters.keys.key import Key
from app.adapters.locales.language import IN_ENGLISH
from app.adapters.records.opening import ready_store
from app.answering.service import Service
from app.answering.under_way import Admitted
from app.api.problems import problem
from app.asking.callers import Caller
from app.asking.parsing import read_body
from app.asking.schemas import CounterfactualsRequest
from app.core.turns import run_through
from app.recording.recorder import Recorder
from app.settings import Settings
from app.writing.forms import JsonLines
from app.writing.lines import Presenter
from app.writing.reasons import reasons_json
from tests.support.live_server import ROOT


class Recorded:
    """A service and its recorder."""

    def __init__(self, settings: Settings) -> None:
        assert settings.records is not None
        self.service = Service(settings, load_catalog(settings.models_dir, settings.normal_ranges_dir))
        self.recorder = Recorder(ready_store(settings.records), settings)
        self.store = self.recorder.store
        # The last answer, as it was sent.
        self.lines: list[str] = []
        self.language = IN_ENGLISH

    def ask(self, model: str, body: dict[str, Any], key: Key | None = None, most: int | None = None) -> str:
        """Ask as a client would, one that leaves after so many lines; the id of the record."""
        return asyncio.run(self._ask(model, json.dumps(body), key, most))

    async def _ask(self, model: str, text: str, key: Key | None, most: int | None) -> str:
        body = read_body(text.encode(), CounterfactualsRequest)
        admitted = Admitted(time.perf_counter(), caller=Caller.of(key, model))
        subject = None if body.record is None else body.record.subject
        with (
            self.service.admit(admitted),
            closing(self.recorder.begin(text, subject, key)) as recording,
        ):
            answer = self.service.pose(body, self.service.model(model), admitted)
            form = recording.over(JsonLines(), answer, self.service, self.language)
            present = Presenter(answer.question, form, problem, self.language).text
            events = answer.events()
            self.lines = [present(next(events))]
            await recording.settle()
            for number, event in enumerate(events, start=2):
                if most is not None and number > most:
                    break
                self.lines.append(present(event))
        assert recording.id is not None
        return recording.id

    def ask_for_reasons(self, model: str, body: dict[str, Any], key: Key | None = None) -> str:
        """The same of reasons."""
        return asyncio.run(self._ask_for_reasons(model, json.dumps(body), key))

    async def _ask_for_reasons(self, model: str, text: str, key: Key | None) -> str:
        body = read_body(text.encode(), CounterfactualsRequest)
        admitted = Admitted(time.perf_counter(), caller=Caller.of(key, model))
        subject = None if body.record is None else body.record.subject
        with self.service.admit(admitted), closing(self.recorder.begin(text, subject, key)) as recording:
            found = run_through(self.service.reasoning(body, self.service.model(model), admitted))
            said = reasons_json(found, self.language)
            self.lines = [recording.of_reasons(said, found, self.service, self.language)]
            await recording.settle()
        assert recording.id is not None
        return recording.id

    def written(self) -> None:
        """Wait until everything is in the store."""
        self.recorder.writer.close(300)


@contextmanager
def recorded(
    address: str, models: Path = ROOT / "models", ranges: Path = ROOT / "normal_ranges", **settings: Any
) -> Iterator[Recorded]:
    made = Recorded(Settings(models_dir=models, normal_ranges_dir=ranges, records=address, **settings))
    try:
        yield made
    finally:
        made.recorder.close()
        made.service.close()


EXAMPLES = {
    name: [json.loads(file.read_text()) for file in sorted((ROOT / "models" / name / "examples").glob("*.json"))]
    for name in ("hcv", "thyroid", "mortgage", "synthetic")
}


def some_robustness(rng: Random, model: str) -> dict[str, Any]:
    """What plans may be held against."""
    asked: dict[str, Any] = {"draws": rng.choice([3, 20])}
    if model in ("hcv", "mortgage"):
        asked["models"] = [f"{model}@2"]
    if rng.random() < 0.5:
        asked["noise"] = {name: {"relative": 0.05} for name in rng.sample(list(EXAMPLES[model][0]["instance"]), 2)}
    if rng.random() < 0.3:
        asked["more"] = rng.choice(["tell", "require"])
    if rng.random() < 0.3:
        asked["require"] = rng.choice([0.5, 1])
    if rng.random() < 0.3:
        asked["order"] = rng.choice(["cost", "stability"])
    return asked


def some_request(rng: Random) -> tuple[str, dict[str, Any]]:
    """A request like the examples, with other values, and now and then with other wishes."""
    model = rng.choice(list(EXAMPLES))
    body = json.loads(json.dumps(rng.choice(EXAMPLES[model])))
    for name, value in body["instance"].items():
        if isinstance(value, float) and rng.random() < 0.5:
            body["instance"][name] = round(value * rng.uniform(0.7, 1.4), 3)
    if rng.random() < 0.3:
        body.setdefault("limits", {})["engine"] = rng.choice(["auto", "lattice", "cemsp"])
    if rng.random() < 0.2:
        body.setdefault("limits", {})["max_counterfactuals"] = rng.randint(1, 5)
    if rng.random() < 0.2:
        body.setdefault("limits", {})["max_model_rows"] = rng.choice([1, 10, 100])
    if rng.random() < 0.2:
        body.setdefault("constraints", {})["max_changes"] = rng.randint(1, 3)
    if rng.random() < 0.2:
        body["least"] = True
    if rng.random() < 0.3:
        body["robustness"] = some_robustness(rng, model)
    if model == "mortgage" and rng.random() < 0.5:
        body["registry"] = "mortgage-steps"
    if model == "mortgage" and rng.random() < 0.3:
        body.setdefault("constraints", {})["relations"] = ["hirat <= pirat"]
    body["record"] = {"subject": f"p-{rng.randrange(100)}"}
    return model, body
