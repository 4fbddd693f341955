"""The yardstick is the published search: right wherever the model is monotone."""

from itertools import islice

import numpy as np
import pytest

from lab.paper.published_cemsp import PublishedCemsp
from lab.paper.questions.row_judge import RowJudge
from tests.support.brute_force import Case, minimal_sets, movable
from tests.support.graphs import write_network
from tests.support.networks import Network, random_case


def person(seed: int) -> tuple[Case, Network]:
    """Someone whom a random monotone network refuses, and whom no constraint holds back."""
    case, network = random_case(seed, monotone=True)
    plain = Case(case.values, case.ranges, case.favourable, case.guides, case.move_to, case.whole)
    return plain, network


def published(case: Case, favourable) -> PublishedCemsp:
    return PublishedCemsp(favourable, np.array(case.values, dtype=np.float32), movable(case))


@pytest.mark.parametrize("seed", range(60))
def test_it_finds_every_minimal_set_of_a_monotone_model(seed: int):
    case, _ = person(seed)
    found = list(published(case, case.favourable).answers())
    assert len(found) == len(set(found))
    assert set(found) == minimal_sets(case)


def test_it_asks_a_model_file_as_it_asks_the_network(tmp_path):
    case, network = person(4)
    write_network(tmp_path / "model.onnx", network)
    assert set(published(case, RowJudge(tmp_path / "model.onnx")).answers()) == minimal_sets(case)


def test_it_can_be_left_after_a_few_answers():
    case = Case([0.0] * 12, [(1.0, None)] * 12, lambda row: sum(row) >= 4)
    found = list(islice(published(case, case.favourable).answers(), 10))
    assert len(set(found)) == 10
    assert {len(answer) for answer in found} == {4}


def test_it_misses_answers_where_the_model_is_not_monotone():
    """Which is what the service is for: the last move helps, but only alone."""
    case = Case([0.0] * 8, [(1.0, None)] * 8, lambda row: list(row) == [0.0] * 7 + [1.0])
    assert minimal_sets(case) == {frozenset({7})}
    assert list(published(case, case.favourable).answers()) == []
