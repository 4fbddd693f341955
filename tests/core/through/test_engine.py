"""Searches that see through random sums of tables, against brute force that asks the model about every set."""

import pytest

from app.core.facts import Engine
from tests.support.scale import scaled
from tests.support.seeds import Seeds
from tests.support.seen import random_person


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("constrained", [False, True])
def test_every_minimal_answer_comes_in_order_with_the_models_own_score(constrained: bool):
    found = 0
    for seed in Seeds(scaled(60), first=170_000):
        person = random_person(seed, constrained=constrained)
        run = person.run("through")
        expected = person.expected()
        assert run.answers == expected, seed
        assert [answer.score for answer in run.found] == [person.score(answer) for answer in expected], seed
        assert [answer.cost for answer in run.found] == [person.cost(answer) for answer in expected], seed
        assert (run.finished.complete, run.finished.engine) == (True, Engine.THROUGH), seed
        assert run.finished.complete_up_to == len(run.problem.moves), seed
        found += bool(expected)
    assert found
