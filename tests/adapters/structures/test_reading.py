"""What was read in a model is listed with it. The shipped models are what they are known to be."""

from pathlib import Path

import pytest

from app.adapters.catalog import Catalog, load_catalog
from app.adapters.graphs.inspecting import Graph
from app.api.listings import describe_model
from app.core.through.view import Kind
from tests.support.live_server import ROOT

TREES = {"mortgage", "mortgage@2"}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog(ROOT / "models", ROOT / "normal_ranges")


def test_the_shipped_trees_are_seen_through(catalog: Catalog):
    kinds = {name: model.structure.kind for name, model in catalog.models.items()}
    assert {name for name, kind in kinds.items() if kind is Kind.TREES} == TREES


def test_a_listing_says_what_was_read(catalog: Catalog):
    listed = describe_model(catalog.models["mortgage"], catalog)
    assert listed.structure.model_dump() == {"kind": "trees", "why": None}


def test_inspect_says_what_can_be_read_without_a_description():
    lines = Graph(Path(ROOT / "models" / "mortgage" / "model.onnx")).description().splitlines()
    assert lines[-1] == "structure trees"
