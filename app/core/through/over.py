"""A model over boxes of rows: all rows between two, column by column."""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from app.core.favourable import Favourable
from app.core.through.view import Numbers

Rows = NDArray[Any]


class Bounded(NamedTuple):
    """For each box: bounds on the model's outputs, as the runtime computes them, and where to part it to know more.

    `column` is the one to part, and `last` its last cell on the lower side. Where `column` is -1, all rows of the box
    have the same outputs.
    """

    low: Numbers
    high: Numbers
    column: NDArray[np.intp]
    last: NDArray[Any]


class SeenOver(Protocol):
    """A model that is seen through."""

    def over(self, low: Rows, high: Rows, favourable: Favourable) -> Bounded:
        """The model over boxes, a row of least and a row of largest cells for each; `Unseen` where it cannot be."""
        ...
