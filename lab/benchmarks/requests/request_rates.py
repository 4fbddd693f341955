"""Requests a second over kept-alive connections: counterfactuals against predictions, a stock app's and our own."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from urllib.parse import urlsplit

from lab.benchmarks.figures import Figure, agreed
from lab.benchmarks.requests.load import Load, rate
from lab.benchmarks.requests.stock_server import stock_server
from lab.benchmarks.workshop import Workshop
from tests.support.live_server import ROOT, LiveServer, live_server

PERSON = ROOT / "models" / "hcv" / "examples" / "several-ways.json"
COUNTERFACTUALS = "/v1/models/hcv/counterfactuals"
PREDICTIONS = "/v1/models/hcv/predictions"
ASKED = {
    ("json", "stock"): 0.6,
    ("ndjson", "stock"): 0.5,
    ("json", "predictions"): 0.4,
    ("ndjson", "predictions"): 0.35,
}
SIDES = {"stock": "a stock prediction app", "predictions": "our own predictions"}


@dataclass(frozen=True)
class Side:
    """What is asked of whom."""

    url: str
    path: str
    body: str
    accept: str = "application/json"

    def load(self, seconds: float) -> Load:
        port = urlsplit(self.url).port
        assert port is not None
        return Load(port, self.path, (self.body,), self.accept, seconds)


def figures(workshop: Workshop) -> Iterator[Figure]:
    with live_server() as flipset:
        body = PERSON.read_text(encoding="utf-8")
        answers = _warmed_up(flipset, body)
        with stock_server(ROOT / "models" / "hcv" / "model.onnx") as stock:
            instance = json.dumps({"instance": json.loads(body)["instance"]})
            sides = {
                "stock": Side(stock, "/predictions", instance),
                "json": Side(flipset.url, COUNTERFACTUALS, body),
                "predictions": Side(flipset.url, PREDICTIONS, instance),
                "ndjson": Side(flipset.url, COUNTERFACTUALS, body, "application/x-ndjson"),
            }
            rates = _rates(workshop, sides)
    details = {"requests_a_second": {name: round(each, 1) for name, each in rates.items()}, "answers": answers}
    for (form, against), asked in ASKED.items():
        title = f"requests a second, hcv, {answers} answers, {form.upper()}: against {SIDES[against]}"
        ratio = rates[form] / rates[against]
        yield Figure(f"requests.{form}_to_{against}", title, "at least", asked, ratio, "of the rate", details)


def _warmed_up(flipset: LiveServer, body: str) -> int:
    """How many answers the person gets."""
    content = {"Content-Type": "application/json", "Accept": "application/json"}
    with flipset.client() as client:
        answer = client.post(COUNTERFACTUALS, content=body, headers=content).json()
    count = int(answer["summary"]["count"])
    agreed(4 <= count <= 6, "requests: the person has 4 to 6 answers")
    return count


def _rates(workshop: Workshop, sides: dict[str, Side]) -> dict[str, float]:
    seconds = workshop.sizes.load_seconds
    for side in sides.values():
        rate(side.load(seconds / 4))
    rounds = workshop.track(range(workshop.sizes.load_rounds), "requests a second")
    measured = [{name: rate(side.load(seconds)) for name, side in sides.items()} for _ in rounds]
    return {name: median(each[name] for each in measured) for name in sides}
