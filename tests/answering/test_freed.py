"""What an answer leaves behind when it is over."""

import gc
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from app.adapters.catalog import load_catalog
from app.answering.service import Service
from app.settings import Settings
from tests.support.answers import lines_of

ROOT = Path(__file__).parents[2]


def unfreed(service: Service, request: dict[str, Any], model: str) -> Counter[str]:
    """The kinds of objects that only the garbage collector frees."""
    lines_of(service, request, model)
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        lines_of(service, request, model)
        gc.collect()
        return Counter(type(each).__name__ for each in gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()


@pytest.mark.parametrize("model", ["hcv", "mortgage", "synthetic", "thyroid"])
def test_no_part_of_an_answer_is_in_a_ring_that_keeps_its_memory_from_the_next(model: str):
    service = Service(Settings(), load_catalog(ROOT / "models", ROOT / "normal_ranges"))
    for request in service.model(model).model.examples.values():
        assert not unfreed(service, request, model)
