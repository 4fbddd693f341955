"""Cards and services against what CDS Hooks says of them."""

from collections.abc import Iterator
from typing import Any

import pytest

from app.adapters.catalog import catalog_of
from app.adapters.files.snapshots import take_snapshot
from app.answering.service import Service
from app.asking.schemas import CounterfactualsRequest
from app.clinic import hooks
from app.clinic.cards import LONGEST_SUMMARY, cards_of
from app.clinic.plans import first_plans
from app.core.turns import run_through
from app.settings import Settings
from tests.support.bundles import made_bundle
from tests.support.live_server import ROOT


@pytest.fixture(scope="module")
def service() -> Service:
    folders = ROOT / "models", ROOT / "normal_ranges"
    settings = Settings(models_dir=folders[0], normal_ranges_dir=folders[1])
    return Service(settings, catalog_of(take_snapshot(*folders, locales_dir=ROOT / "locales")))


# What CDS Hooks 2.0 (cds-hooks.hl7.org/2.0) says of each element: the least number, the most, and the kind.
# HL7's logical models say the same. No package on PyPI, npm or in Debian holds them.
CARDS = {
    "cards": (0, "*", "object"),
    "cards.uuid": (0, "1", "uuid"),
    "cards.summary": (1, "1", "string"),
    "cards.detail": (0, "1", "markdown"),
    "cards.indicator": (1, "1", "code"),
    "cards.source": (1, "1", "object"),
    "cards.source.label": (1, "1", "string"),
    "cards.source.url": (0, "1", "url"),
    "cards.source.icon": (0, "1", "url"),
    "cards.source.topic": (0, "1", "Coding"),
    "cards.suggestions": (0, "*", "object"),
    "cards.selectionBehavior": (0, "1", "code"),
    "cards.overrideReasons": (0, "*", "Coding"),
    "cards.links": (0, "*", "object"),
    "cards.links.label": (1, "1", "string"),
    "cards.links.url": (1, "1", "url"),
    "cards.links.type": (1, "1", "code"),
    "cards.links.appContext": (0, "1", "string"),
    "systemActions": (0, "*", "object"),
}
SERVICES = {
    "services": (0, "*", "object"),
    "services.hook": (1, "1", "string"),
    "services.title": (0, "1", "string"),
    "services.description": (1, "1", "string"),
    "services.id": (1, "1", "string"),
    "services.prefetch": (0, "*", "object"),
    "services.prefetch.key": (1, "1", "code"),
    "services.prefetch.value": (1, "1", "string"),
    "services.usageRequirements": (0, "1", "string"),
}
CODES = {"cards.indicator": {"info", "warning", "critical"}, "cards.links.type": {"absolute", "smart"}}


def breaches(model: dict[str, tuple[int, str, str]], value: dict[str, Any], path: str = "") -> Iterator[str]:
    """Where an object is not as the model has it."""
    known = {name.rpartition(".")[2]: name for name in model if name.rpartition(".")[0] == path}
    yield from (f"{path}.{name}: unknown" for name in value if name not in known)
    for name, whole in known.items():
        least, most, kind = model[whole]
        if name not in value:
            yield from [f"{whole}: missing"] if least else []
            continue
        sent = value[name]
        held = sent if isinstance(sent, list) else [sent]
        if isinstance(sent, list) != (most == "*"):
            yield f"{whole}: as often"
        if not sent and sent is not False and whole not in {"cards", "services"}:
            yield f"{whole}: empty"
        if kind in ("string", "markdown", "url", "uuid", "code") and not all(isinstance(each, str) for each in held):
            yield f"{whole}: no text"
        if not set(CODES.get(whole, held if kind == "code" else ())).issuperset(held if kind == "code" else ()):
            yield f"{whole}: no code"
        for each in held:
            yield from breaches(model, each, whole) if isinstance(each, dict) else ()


def test_a_spoilt_card_is_noticed():
    spoilt = {"summary": 7, "indicator": "green", "source": {}, "detail": "", "x": 1}
    assert set(breaches(CARDS, {"cards": [spoilt]})) == {
        "cards.x: unknown",
        "cards.summary: no text",
        "cards.indicator: no code",
        "cards.source: empty",
        "cards.source.label: missing",
        "cards.detail: empty",
    }


@pytest.mark.parametrize("tag", ["en", "de", "es"])
def test_cards_are_as_cds_hooks_has_them(service: Service, tag: str):
    seen = 0
    language = service.model("hcv").catalog.languages.closest(tag)
    assert language is not None
    for seed in range(25_300_000, 25_300_020):
        made = made_bundle(seed)
        request = CounterfactualsRequest.model_validate(made.request)
        with service.answering(request, service.model("hcv")) as answer:
            plans = run_through(first_plans(answer, 3))
        for link, name in ((None, None), ("https://flipset.example.org/", "0c3151bd-1cbf-4d64-b04d-cd9187a4c6e0")):
            cards = cards_of(plans, link, name, language)
            assert list(breaches(CARDS, cards)) == []
            for card in cards["cards"]:
                seen += 1
                assert len(card["summary"]) <= LONGEST_SUMMARY
                assert not card["summary"].endswith("…")
    assert seen


@pytest.mark.parametrize("tag", ["en", "de", "es"])
def test_services_are_as_cds_hooks_has_them(service: Service, tag: str):
    language = service.model("hcv").catalog.languages.closest(tag)
    assert language is not None
    told = {"services": [hooks.service_of(service.model(name).model, language) for name in ("hcv", "hcv@2")]}
    # The model writes the entries of prefetch as a list of keys and values.
    for each in told["services"]:
        each["prefetch"] = [{"key": key, "value": value} for key, value in each["prefetch"].items()]
    assert list(breaches(SERVICES, told)) == []
