"""A graph, and how the service reads it."""

from dataclasses import dataclass

from app.adapters.graphs.feeds import Feed


@dataclass(frozen=True, slots=True)
class Served:
    """A graph as the service reads it: which columns go where, and what becomes of its output.

    `places` has the columns of each feature; `outputs` is the number of scores.
    """

    content: bytes
    feeds: tuple[Feed, ...]
    places: tuple[tuple[int, ...], ...]
    output: str
    classes: tuple[str, ...]
    activation: str
    outputs: int
