"""Searches through random networks that ONNX Runtime runs, against brute force that asks about every set."""

import pytest

from app.core.facts import Engine, Explained, Guarantee, ProvedBy
from app.core.search import whole_lattice
from app.core.through.networks import engine, frontier
from tests.support.layered import out_of_reach, random_person, rising_person, saturated_person
from tests.support.scale import scaled
from tests.support.seeds import Seeds


@pytest.fixture(params=["as it is", "small steps"])
def steps(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With few moves a tree is shallow; with small steps it has every part that a large one has."""
    if request.param == "small steps":
        monkeypatch.setattr(frontier, "BLOCK_MOVES", 2)
        monkeypatch.setattr(frontier, "STRIDE", 2)
        monkeypatch.setattr(frontier, "DEEPEST_WITH_PLANES", 4)
        monkeypatch.setattr(frontier, "NODES", 3)
        monkeypatch.setattr(frontier, "VALUES", 8)
    return request.param


@pytest.mark.usefixtures("steps")
@pytest.mark.parametrize("constrained", [False, True])
def test_a_search_by_bounds_sends_what_brute_force_finds(constrained: bool):
    rows = everything = 0
    for seed in Seeds(scaled(15), first=180_000):
        person = random_person(seed, constrained=constrained)
        run, expected = person.run("through"), person.expected()
        assert run.answers == expected, seed
        assert (run.finished.complete, run.finished.stopped_by) == (True, None), seed
        plain = person.run("lattice")
        assert [found.score for found in run.found] == [found.score for found in plain.found], seed
        assert [found.cost for found in run.found] == [found.cost for found in plain.found], seed
        if expected:
            rows, everything = rows + run.rows, everything + plain.rows
    assert rows < everything


def test_auto_scores_few_subsets_instead_of_bounding_them(monkeypatch: pytest.MonkeyPatch):
    """If all moves together turn the decision: otherwise there may be nothing to list, which bounds prove sooner."""
    monkeypatch.setattr(whole_lattice, "MOST_AT_ONCE", 0)
    engines = set()
    for seed in Seeds(scaled(15), first=187_000):
        person = random_person(seed, constrained=False)
        for each, expected in ((person, person.expected()), (out_of_reach(person), [])):
            if each is None:
                continue
            run = each.run("auto", view=each.view)
            assert run.answers == expected, seed
            assert run.finished.complete, seed
            engines.add((bool(expected), run.finished.engine))
    assert {(True, Engine.LATTICE), (False, Engine.THROUGH)} <= engines
    assert (False, Engine.LATTICE) not in engines


def test_a_sigmoid_that_is_computed_in_float32_stays_coarse_where_the_graph_writes_float64():
    people = [person for seed in Seeds(40, first=186_000) if (person := saturated_person(seed)) is not None]
    assert people
    for person in people:
        assert person.run("through").answers == person.expected()


@pytest.mark.slow
@pytest.mark.usefixtures("steps")
def test_without_a_way_out_the_closest_subset_is_the_one_that_all_rows_would_tell():
    """Thresholds that no subset reaches, some of them by a hair."""
    told = 0
    for seed in Seeds(scaled(15), first=184_000):
        person = out_of_reach(random_person(seed, constrained=False))
        if person is None:
            continue
        run, plain = person.run("through"), person.run("lattice")
        assert run.finished.complete, seed
        (explained,), (expected,) = (
            [fact for fact in each.facts if isinstance(fact, Explained)] for each in (run, plain)
        )
        if explained.explanation.complete:
            assert explained.best == expected.best, seed
            told += 1
    assert told


def test_a_network_whose_weights_have_one_sign_is_proved_to_be_monotone(monkeypatch: pytest.MonkeyPatch):
    """Unless a failing set is too close a call: then nothing is claimed, and the answers are all there nevertheless.

    Every network counts as one with too many moves to be searched by bounds.
    """
    monkeypatch.setattr(engine, "MOST_MOVES", 0)
    proved, proofs = [0, 0], set()
    for seed in Seeds(scaled(5), first=185_000):
        person = rising_person(seed)
        run = person.run("auto", view=person.view, rows_by_size=600)
        assert sorted(map(sorted, run.answers)) == sorted(map(sorted, person.expected())), seed
        is_exact = run.finished.guarantee is Guarantee.EXACT
        assert is_exact == (run.finished.proof is not None), seed
        proved[is_exact] += 1
        proofs.add(run.finished.proof and run.finished.proof.by)
    assert proved[True] > 3 * proved[False]
    assert ProvedBy.NETWORK in proofs
