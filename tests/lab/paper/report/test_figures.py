"""The figures: their words, the same bytes for the same numbers, and nothing that a missing mean can break."""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.paper.report.titles import METHODS, METRICS
from lab.paper.results import DataSetResults, MethodResults

# matplotlib is in requirements/paper.txt, and only who draws the figures needs it.
pytest.importorskip("matplotlib")

from lab.paper.report.figures import noise, quality, retraining
from lab.paper.report.noise_lines import apart
from tests.lab.paper.report import made_up

DRAWN = {"quality": quality, "retraining": retraining, "noise": noise}
PNG = b"\x89PNG"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """All figures of three data sets, drawn once, into a folder that was not there."""
    new = tmp_path_factory.mktemp("figures") / "new"
    for draw in DRAWN.values():
        draw(made_up.three(), new)
    return new


@pytest.mark.parametrize("name", DRAWN)
def test_a_figure_is_written_in_both_forms_with_its_words_as_text(name, folder):
    svg = (folder / f"{name}.svg").read_text(encoding="utf-8")
    assert (folder / f"{name}.png").read_bytes().startswith(PNG)
    titles = [one.title for one in METHODS.values()]
    for words in ("HCV", "Thyroid", "Synthetic", "hcv-paper-tight, 20 people", *titles):
        assert f">{words}</text>" in svg


@pytest.mark.parametrize("name", DRAWN)
def test_the_same_numbers_give_the_same_bytes(name, folder, tmp_path):
    DRAWN[name](made_up.three(), tmp_path)
    for file in (f"{name}.svg", f"{name}.png"):
        assert (folder / file).read_bytes() == (tmp_path / file).read_bytes()


@pytest.mark.parametrize("name", DRAWN)
def test_no_date_is_written(name, folder):
    assert "<dc:date>" not in (folder / f"{name}.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", DRAWN)
def test_no_letter_is_smaller_than_8_points(name, folder):
    """In the SVG of a figure a pixel is a point."""
    sizes = re.findall(r"font-size: ([\d.]+)px", (folder / f"{name}.svg").read_text(encoding="utf-8"))
    assert sizes
    assert min(map(float, sizes)) >= 8


@pytest.mark.parametrize("name", DRAWN)
def test_missing_means_are_said_and_do_no_harm(name, tmp_path):
    DRAWN[name]([made_up.with_nothing()], tmp_path)
    svg = (tmp_path / f"{name}.svg").read_text(encoding="utf-8")
    expected = {"quality": "fewer than two answers", "retraining": "undefined", "noise": "undefined"}
    assert f">{expected[name]}</text>" in svg


@pytest.mark.parametrize("name", DRAWN)
def test_a_method_that_was_not_run_on_one_data_set_is_drawn_on_the_other(name, tmp_path):
    DRAWN[name]([made_up.with_nothing(), made_up.three()[1]], tmp_path)
    svg = (tmp_path / f"{name}.svg").read_text(encoding="utf-8")
    assert ">SNS</text>" in svg
    assert name == "noise" or ">not run</text>" in svg


def test_the_rows_of_the_quality_say_which_way_is_better(folder):
    svg = (folder / "quality.svg").read_text(encoding="utf-8")
    for metric in ("sparsity", "aps", "diversity", "c_diversity"):
        assert f">{METRICS[metric].heading}</text>" in svg
    assert ">0.355</text>" in svg


def test_an_inconsistency_of_0_has_its_place_on_the_scale_of_the_noise(tmp_path):
    full = made_up.data_set("thyroid", "thyroid")
    noise([replace(full, methods={"exact": _still(full)})], tmp_path)
    assert ">0</text>" in (tmp_path / "noise.svg").read_text(encoding="utf-8")


def _still(results: DataSetResults) -> MethodResults:
    exact = results.methods["exact"]
    still = {sigma: made_up.robustness(0.0) for sigma in exact.changes.noise}
    return replace(exact, changes=replace(exact.changes, noise=still))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_names_at_the_ends_of_lines_never_cover_each_other(heights):
    placed = apart({str(place): height for place, height in enumerate(heights)}, 0.05)
    found = sorted(placed.values())
    assert all(upper - lower >= 0.05 - 1e-9 for lower, upper in pairwise(found))
    assert found[-1] <= 1 + 1e-9
    order = sorted(placed, key=lambda name: placed[name])
    assert [heights[int(name)] for name in order] == sorted(heights)
