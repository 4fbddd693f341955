"""The lines as they are written, held against what /openapi.json says of them."""

from pathlib import Path
from typing import Any

import pytest

from app.adapters.catalog import load_catalog
from app.answering.service import Service
from app.api.describing.lines import LINES
from app.settings import Settings
from tests.support.answers import lines_of

ROOT = Path(__file__).parents[2]
DESCRIBED = {line.model_fields["type"].annotation.__args__[0]: line for line in LINES}


@pytest.fixture(scope="module")
def service() -> Service:
    return Service(Settings(), load_catalog(ROOT / "models", ROOT / "normal_ranges"))


def names_in(value: Any) -> Any:
    """The names of all fields, in their order, however deep."""
    if isinstance(value, dict):
        return [(name, names_in(content)) for name, content in value.items()]
    return [names_in(content) for content in value] if isinstance(value, list) else None


def test_every_line_has_the_fields_that_are_described_in_their_order(service: Service):
    seen = set()
    for model in service.catalog.models.values():
        for request in model.examples.values():
            for line in lines_of(service, request, model.name):
                seen.add(line["type"])
                read = DESCRIBED[line["type"]].model_validate(line)
                assert names_in(read.model_dump(mode="json", by_alias=True, exclude_unset=True)) == names_in(line)
    assert seen == {"start", "counterfactual", "progress", "summary"}


def test_an_answer_that_breaks_down_ends_with_the_line_that_is_described(
    service: Service, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("app.answering.searching.Search.facts", lambda self, engine: iter([None.no_such_name]))
    request = service.catalog.models["hcv"].examples["no-way-out"]
    *_, last = lines_of(service, request, "hcv")
    read = DESCRIBED["error"].model_validate(last)
    assert names_in(read.model_dump(mode="json", by_alias=True, exclude_unset=True)) == names_in(last)
