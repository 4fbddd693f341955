"""The diagram of all subsets: what is drawn, and what is refused."""

import pytest

# matplotlib is in requirements/paper.txt, and only who draws the figures needs it.
pytest.importorskip("matplotlib")

from lab.paper.report.hasse import hasse, score
from lab.paper.report.subsets import Subset
from tests.lab.paper.report import made_up


def drawn(folder, lattice) -> str:
    hasse(folder, "subsets", lattice.features, lattice.subsets)
    assert (folder / "subsets.png").read_bytes().startswith(b"\x89PNG")
    return (folder / "subsets.svg").read_text(encoding="utf-8")


def test_every_subset_is_a_box_with_its_features(tmp_path):
    svg = drawn(tmp_path, made_up.lattice())
    for size in range(6):
        assert f">{size} changed</text>" in svg
    assert ">none</text>" in svg
    # Half of the 32 subsets hold ALT: one line each begins with it.
    assert svg.count(">ALT") == 16


def test_the_legend_says_it_in_words(tmp_path):
    svg = drawn(tmp_path, made_up.lattice())
    assert ">favourable and minimal: no proper subset is favourable</text>" in svg
    assert ">unfavourable and maximal: no proper superset is unfavourable</text>" in svg
    assert ">one more change undoes it</text>" in svg


def test_a_monotone_diagram_does_not_speak_of_undoing(tmp_path):
    hasse(tmp_path, "small", ["a", "b"], made_up.subsets(2, lambda one: 0 in one))
    assert "undoes" not in (tmp_path / "small.svg").read_text(encoding="utf-8")


def test_the_same_scores_give_the_same_bytes(tmp_path):
    assert drawn(tmp_path / "first", made_up.lattice()) == drawn(tmp_path / "second", made_up.lattice())


@pytest.mark.parametrize("favourable", [True, False])
def test_where_nothing_or_everything_is_favourable_it_is_drawn_too(tmp_path, favourable):
    hasse(tmp_path, "all", ["a", "b", "c"], made_up.subsets(3, lambda _: favourable))
    assert (tmp_path / "all.svg").exists()


def test_six_features_are_the_most(tmp_path):
    names = "ALT AST BIL CHE CHOL PROT"
    assert ">6 changed</text>" in drawn(tmp_path, made_up.lattice(names))
    with pytest.raises(ValueError, match="more than 6"):
        hasse(tmp_path, "large", [*names.split(), "GGT"], made_up.subsets(7, lambda _: True))


def test_a_subset_that_is_missing_or_there_twice_is_refused(tmp_path):
    subsets = made_up.subsets(2, lambda _: True)
    for wrong in (subsets[:-1], (*subsets[:-1], subsets[0]), (*subsets[:-1], Subset(frozenset({5}), 0.5, True))):
        with pytest.raises(ValueError, match="each of the 4 subsets"):
            hasse(tmp_path, "wrong", ["a", "b"], wrong)


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.0, "0"), (0.0004, "<.01"), (0.012, ".01"), (0.5, ".50"), (0.994, ".99"), (0.9999, ">.99"), (1.0, "1")],
)
def test_a_score_never_looks_surer_than_it_is(value, words):
    assert score(value) == words
