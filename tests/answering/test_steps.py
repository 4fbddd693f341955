"""Steps through the service: the page about them keeps its word, and every answer is what the definition says."""

import json
import re
import time
from itertools import product
from typing import Any

import numpy as np
import pytest

from app.adapters.catalog import load_catalog
from app.answering.service import Service
from app.answering.under_way import Admitted
from app.asking.refusals import ConflictingConstraints, InvalidRequest
from app.asking.schemas import CounterfactualsRequest, PredictionsRequest
from app.core.turns import run_through
from app.settings import Settings
from tests.support.answers import lines_of
from tests.support.live_server import ROOT
from tests.support.scale import scaled
from tests.support.seeds import Seeds

PAGE = (ROOT / "docs/steps.md").read_text()
EXAMPLES = re.findall(r"```json\n(\{\"instance\".*?)```\n\n```text\n(.*?)```", PAGE, flags=re.DOTALL)
APPLICANT = json.loads(EXAMPLES[0][0])["instance"]


@pytest.fixture(scope="module")
def service() -> Service:
    settings = Settings(models_dir=ROOT / "models", normal_ranges_dir=ROOT / "normal_ranges")
    return Service(settings, load_catalog(settings.models_dir, settings.normal_ranges_dir))


def plans(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line for line in lines if line["type"] == "counterfactual"]


@pytest.mark.parametrize(("request_text", "sentences"), EXAMPLES)
def test_the_examples_of_the_page_get_the_sentences_below_them(service: Service, request_text: str, sentences: str):
    lines = lines_of(service, json.loads(request_text), "mortgage")
    assert [plan["sentence"] for plan in plans(lines)] == sentences.strip().splitlines()


def favours(service: Service, instances: list[dict[str, Any]]) -> list[bool]:
    chosen = service.model("mortgage")
    body = PredictionsRequest.model_validate({"instances": instances})
    with service.admit(Admitted(time.perf_counter())) as place:
        return run_through(service.predicting(body, chosen, place)).verdict.favourable.tolist()


@pytest.mark.parametrize("engine", ["auto", "lattice", "cemsp", "through"])
def test_an_answer_of_the_service_is_that_of_brute_force(service: Service, engine: str):
    ways = {"pirat": [0.40, 0.38, 0.36], "hirat": [0.31, 0.28], "lvrat": [0.9, 0.85, 0.8], "chist": [4, 3, 2]}
    ranges = {name: {"move_to": {"steps": steps}} for name, steps in ways.items()}
    request = {"instance": APPLICANT, "normal_ranges": ranges, "limits": {"engine": engine}}
    choices = list(product(*(range(len(steps) + 1) for steps in ways.values())))
    rows = [
        {**APPLICANT, **{name: ways[name][step - 1] for name, step in zip(ways, choice, strict=True) if step}}
        for choice in choices
    ]
    good = [choice for choice, favoured in zip(choices, favours(service, rows), strict=True) if favoured]
    minimal = {
        choice
        for choice in good
        if not any(other != choice and all(a <= b for a, b in zip(other, choice, strict=True)) for other in good)
    }
    lines = lines_of(service, request, "mortgage")
    found = [
        tuple(next((change["step"] for change in plan["changes"] if change["feature"] == name), 0) for name in ways)
        for plan in plans(lines)
    ]
    assert set(found) <= minimal
    assert len(set(found)) == len(found)
    if lines[-1]["complete"]:
        assert set(found) == minimal
    assert lines[-1]["complete"] or engine == "cemsp"
    for plan, choice in zip(plans(lines), found, strict=True):
        assert plan["instance"] == rows[choices.index(choice)]
        steps = {change["feature"]: change["steps"] for change in plan["changes"]}
        assert plan["cost"] == pytest.approx(sum(change["step"] / change["steps"] for change in plan["changes"]))
        assert steps == {name: len(ways[name]) for name in steps}
    start = next(each for each in lines[0]["features"] if each["name"] == "pirat")
    assert (start["steps"], start["target"]) == ([0.4, 0.38, 0.36], 0.36)


def test_a_limit_on_a_step_leaves_the_steps_before_it(service: Service):
    request = {
        "instance": APPLICANT,
        "normal_ranges": {"pirat": {"move_to": {"steps": [0.40, 0.38, 0.36]}}},
        "constraints": {"max_step": {"pirat": 0.04}, "required": ["lvrat"]},
    }
    lines = lines_of(service, request, "mortgage")
    moved = {change["to"] for plan in plans(lines) for change in plan["changes"] if change["feature"] == "pirat"}
    assert moved <= {0.40, 0.38}
    assert moved


@pytest.mark.parametrize(
    ("move_to", "message"),
    [
        ({"steps": [0.4, 0.5]}, "the last step lies outside the range"),
        ({"steps": [0.3, 0.4, 0.35]}, "steps must go one way, the nearest first"),
        ({"steps": ["former"]}, "steps of a number must be numbers"),
        ({"any_of": [0.3]}, "any_of belongs to a category; a number has steps"),
    ],
)
def test_steps_that_lead_nowhere_are_refused(service: Service, move_to: Any, message: str):
    body = {"instance": APPLICANT, "normal_ranges": {"pirat": {"move_to": move_to}}}
    with (
        pytest.raises(InvalidRequest) as refused,
        service.answering(CounterfactualsRequest.model_validate(body), service.model("mortgage")),
    ):
        pass
    assert [(error.field, error.message) for error in refused.value.errors] == [
        ("normal_ranges.pirat.move_to", message)
    ]


RULES: list[dict[str, Any]] = [
    {},
    {"max_changes": 2},
    {"relations": ["pirat - hirat >= 0.05"]},
    {"causal": [{"cause": "pirat", "effects": ["hirat"]}]},
    {"formulas": ["pirat xor lvrat"]},
]


def test_what_is_seen_through_is_what_the_lattice_finds(service: Service):
    """The lattice asks the model about every choice; the view of its trees proves the same."""
    seen = 0
    for seed in Seeds(scaled(10)):
        rng = np.random.default_rng(seed)
        ratios = {"pirat": (0.3, 0.7), "hirat": (0.25, 0.5), "lvrat": (0.7, 1.1)}
        person = {**APPLICANT, **{name: round(float(rng.uniform(*ends)), 3) for name, ends in ratios.items()}}
        person |= {"chist": int(rng.integers(1, 7)), "mhist": int(rng.integers(1, 5)), "phist": int(rng.integers(0, 2))}
        names = ("pirat", "hirat", "lvrat", "chist", "mhist", "phist")
        ranges = {name: {"move_to": {"steps": int(rng.integers(1, 5))}} for name in names}
        request = {"instance": person, "normal_ranges": ranges, "constraints": RULES[seed % len(RULES)]}
        try:
            found = [
                lines_of(service, {**request, "limits": {"engine": engine}}, "mortgage")
                for engine in ("lattice", "through")
            ]
        except ConflictingConstraints:
            continue
        told = [
            (
                lines[-1]["outcome"],
                lines[-1]["complete"],
                lines[-1]["complete_up_to"],
                sorted((str(plan["changes"]), plan["cost"]) for plan in plans(lines)),
            )
            for lines in found
        ]
        assert told[0] == told[1], seed
        seen += found[1][-1]["engine"] == "through" and bool(plans(found[1]))
    assert seen
