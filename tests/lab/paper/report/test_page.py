"""The page: whole, with every picture that it shows, and the same numbers for programs."""

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from lab.paper.report.page import page, plain
from tests.lab.paper.report import made_up


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A whole page, written once, into a folder that was not there."""
    new = tmp_path_factory.mktemp("page") / "new"
    assert page(made_up.three(), new, made_up.lattice(), made_up.use_case()) == new / "results.md"
    return new


def test_the_page_has_its_sections_and_all_its_pictures(folder):
    text = (folder / "results.md").read_text(encoding="utf-8")
    pictures = re.findall(r"!\[(.+?)\]\((.+?)\)\n", text)
    names = ["quality", "retraining", "noise", "retraining-same-seed", "noise-same-seed", "subsets"]
    assert [file for _, file in pictures] == [f"{name}.svg" for name in names]
    for _, file in pictures:
        assert (folder / file).exists()
        assert (folder / file.replace("svg", "png")).exists()
    for heading in ("The answers", "Whether they stay the same, with the same seed", "One person under constraints"):
        assert f"\n## {heading}\n" in text
    assert "CEMSP exact (Flipset) is ahead of every baseline in 14 of 15 comparisons" in text


def test_alternative_texts_say_what_is_seen(folder):
    text = (folder / "results.md").read_text(encoding="utf-8")
    alt = {file: words for words, file in re.findall(r"!\[(.+?)\]\((.+?)\)\n", text)}
    assert "HCV: lowest CEMSP exact (Flipset) (0.598), highest Growing Spheres (2.66)." in alt["retraining.svg"]
    # With the same seed half of it is left in the made-up results.
    assert (
        "HCV: lowest CEMSP exact (Flipset) (0.299), highest Growing Spheres (1.33)." in alt["retraining-same-seed.svg"]
    )
    assert "SNS (0.478) at sigma 0.1" in alt["noise.svg"]
    ours = "CEMSP exact (Flipset), CEMSP exact, robust (Flipset) and CEMSP as published"
    assert f"Best APS (lower is better): HCV {ours} (0.069)" in alt["quality.svg"]
    assert "Minimal favourable: AST + BIL, AST + CHE and ALT + AST + GGT." in alt["subsets.svg"]


def test_without_a_lattice_and_a_use_case_their_sections_are_left_out(tmp_path):
    text = page(made_up.three()[:1], tmp_path).read_text(encoding="utf-8")
    assert "One person" not in text
    assert not (tmp_path / "subsets.svg").exists()


def test_the_same_results_give_the_same_files(folder, tmp_path):
    page(made_up.three(), tmp_path, made_up.lattice(), made_up.use_case())
    names = sorted(file.name for file in folder.iterdir())
    assert len(names) == 14
    for name in names:
        assert (folder / name).read_bytes() == (tmp_path / name).read_bytes()


def test_results_without_any_mean_make_a_page_too(tmp_path):
    text = page([made_up.with_nothing()], tmp_path).read_text(encoding="utf-8")
    assert "nothing can be said" in text
    assert json.loads((tmp_path / "results.json").read_text())["data_sets"][0]["methods"]["exact"]["cut_short"] == 3


def test_all_numbers_are_there_for_programs(folder):
    content = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    hcv = content["data_sets"][0]
    assert hcv["methods"]["sns"]["changes"]["noise"]["0.1"]["inconsistency"]["value"] == 0.478
    assert hcv["methods"]["sns"]["same_seed"]["noise"]["0.1"]["inconsistency"]["value"] == 0.239
    assert hcv["agreement"]["missed"] == 39
    assert content["paper"]["figures"][0]["methods"]["sns"]["retrained"] == 0.945
    assert content["use_case"]["features"][0]["title"] == "ALT"
    assert len(content["lattice"]["subsets"]) == 32


def test_what_json_cannot_hold_is_made_plain():
    assert plain({0.0001: frozenset({2, 1}), "a": (1, None)}) == {"0.0001": [1, 2], "a": [1, None]}
