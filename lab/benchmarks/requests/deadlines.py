"""How late a search ends that could go on for hours."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb

import numpy as np

from lab.benchmarks.figures import Figure, agreed
from lab.benchmarks.models import DEADLINE_WIDTHS, names
from lab.benchmarks.requests.asking import Asker, request
from lab.benchmarks.workshop import Workshop


@dataclass(frozen=True)
class Endless:
    """A search that has more to do than there is time."""

    name: str
    engine: str
    model: str
    hands_over: bool = False
    threshold: float | None = None
    formulas: bool = False


SEARCHES = (
    # A score that the network never reaches: the lattice has to go through everything.
    Endless("lattice without answers", "lattice", "network", threshold=0.9999),
    Endless("auto", "auto", "five-of"),
    Endless("auto, handed over to the solver", "auto", "five-of", hands_over=True),
    Endless("cemsp", "cemsp", "five-of"),
    Endless("cemsp with hard formulas", "cemsp", "five-of", formulas=True),
)


# Otherwise a fast machine reaches the limit of memory before the deadline.
ROOM = {"search_memory_mb": 2048, "total_search_memory_mb": 4096}


def figures(workshop: Workshop) -> Iterator[Figure]:
    deadline = workshop.sizes.deadline_ms
    asker = Asker(workshop.models, workshop.ranges, **ROOM)
    for width in DEADLINE_WIDTHS:
        late: dict[str, float] = {}
        for _ in workshop.track(range(workshop.sizes.deadlines), f"deadline: {width} movable"):
            for search in SEARCHES:
                ended = _ended(asker, deadline, search, width)
                if ended is not None:
                    late[search.name] = max(late.get(search.name, 0.0), ended - deadline)
        agreed("lattice without answers" in late, "deadline: it is the deadline that ends the search")
        title = f"deadline, {width} movable, {deadline} ms: how late it ends, at worst"
        yield Figure(f"deadline.{width}", title, "at most", 100, max(late.values()), "ms", {"late_ms": late})


def _rows_of_five_levels(width: int) -> int:
    """With so many rows the solver takes over after the fifth level, and is first told of all its answers."""
    return sum(comb(width, size) for size in range(6))


def _hard_formulas(width: int) -> list[str]:
    """Exclusive ors of many features, which no solver likes."""
    rng = np.random.default_rng(width)
    return [" xor ".join(rng.choice(names(width), 8, replace=False)) for _ in range(width // 2)]


def _ended(asker: Asker, deadline_ms: int, search: Endless, width: int) -> float | None:
    """After how many milliseconds; None where something else than the deadline ended it."""
    limits = {
        "engine": search.engine,
        "deadline_ms": deadline_ms,
        "max_model_rows": _rows_of_five_levels(width) + 100_000 if search.hands_over else 20_000_000,
    }
    constraints = {"formulas": _hard_formulas(width), "max_changes": width // 3} if search.formulas else {}
    target = {} if search.threshold is None else {"threshold": search.threshold}
    body = request(dict.fromkeys(names(width), 0), target=target, constraints=constraints, limits=limits)
    answered = asker.ask(f"{search.model}-{width}", body)
    return answered.total * 1000 if answered.summary["stopped_by"] == "deadline" else None
