"""What a request asks of plans that hold."""

from enum import StrEnum


class More(StrEnum):
    """What is asked of further improvements: to tell whether they undo a plan, or that they never do."""

    TELL = "tell"
    REQUIRE = "require"


class Order(StrEnum):
    """The order of the plans of an answer; the last two need the whole answer first."""

    SIZE = "size"
    COST = "cost"
    STABILITY = "stability"
