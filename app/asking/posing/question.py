"""A request understood."""

from math import isnan
from typing import NamedTuple

from app.adapters.graphs.features import Raw
from app.adapters.graphs.models import Model
from app.asking.prepared import PreparedModel
from app.asking.ranges import ChosenRange
from app.asking.robustness import Robustness
from app.asking.rules import RuleInForce
from app.core.constraints import Direction
from app.core.favourable import Favourable
from app.core.problem import Problem


class Purpose(NamedTuple):
    """What a question is posed for: plans or reasons."""

    # How many plans are judged for stability if the request does not ask.
    told_plans: int = 0
    # The constraints are read, and then play no part.
    rules_set_aside: bool = False


PLAIN = Purpose()


class Question(NamedTuple):
    """A request understood: the problem in positions, and what of the request the answer repeats."""

    model: Model
    prepared: PreparedModel
    # The values as they were sent, in the model's order.
    sent: tuple[Raw, ...]
    ranges: tuple[ChosenRange | None, ...]
    favourable: Favourable
    problem: Problem
    # Keys of the context that no range asks for, and keys with a value that no condition of a range knows.
    unused_context: tuple[str, ...]
    unmatched_context: tuple[str, ...]
    added_rules: tuple[RuleInForce, ...]
    # Whether it is known that the constraints do not contradict each other.
    conflicts_ruled_out: bool
    # What is asked, or told, of plans that hold.
    robustness: Robustness | None = None
    # Whether it is asked how little would do.
    least: bool = False

    def is_missing(self, position: int) -> bool:
        return isnan(self.problem.instance[position])

    def direction(self, position: int) -> Direction | None:
        """Up or down; a category goes neither way, nor does what is missing."""
        is_category = self.model.features[position].type == "category"
        return None if is_category else self.problem.states[position].direction
