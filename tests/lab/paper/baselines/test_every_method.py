"""What holds for every baseline."""

import pytest

from lab.paper.baselines.cf_proto import cf_proto
from lab.paper.baselines.dice_gradient import dice_gradient
from lab.paper.baselines.growing_spheres import growing_spheres
from lab.paper.baselines.plain_cf import plain_cf
from lab.paper.baselines.sns import sns
from lab.paper.questions.question import Method
from tests.lab.paper.baselines.problems import either_or, never, question, refused
from tests.lab.paper.test_network import random_network

every_method = pytest.mark.parametrize("method", [growing_spheres, plain_cf, cf_proto, dice_gradient, sns])


@every_method
@pytest.mark.parametrize("count", [1, 2, 6])
def test_it_gives_as_many_favourable_rows_as_are_wanted(method: Method, count: int):
    rows = method(question(either_or(), 3, count=count))
    assert rows.shape == (count, 3)
    assert either_or().favourable(rows).all()


@every_method
def test_the_same_seed_gives_the_same_bytes_and_another_does_not(method: Method):
    network = random_network(3, 4, 8, 1)
    answers = [method(question(network, 4, instance=refused(network), seed=seed)).tobytes() for seed in (1, 1, 2)]
    assert answers[0] == answers[1]
    assert answers[0] != answers[2]


@every_method
def test_it_leaves_the_question_as_it_was(method: Method):
    asked = question(either_or(), 3)
    method(asked)
    assert asked.instance.tolist() == [0.0, 0.0, 0.0]


@every_method
def test_it_ends_where_nobody_is_favourable(method: Method):
    """And long before its time is up: an hour."""
    network = never()
    rows = method(question(network, 3, seconds=3600.0))
    assert not network.favourable(rows).any()
    assert len(network.asked) < 5000


@every_method
def test_without_time_it_asks_next_to_nothing(method: Method):
    network = never()
    rows = method(question(network, 3, seconds=0.0))
    assert not network.favourable(rows).any()
    assert len(network.asked) < 10


@every_method
def test_who_wants_nothing_gets_nothing(method: Method):
    assert method(question(either_or(), 3, count=0)).shape == (0, 3)
