"""The numbers that a model can tell apart, in their order: each has a place, and neighbours."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np


class Numbers(NamedTuple):
    """The numbers of a type; whole ones only, where a feature is whole or the type is."""

    dtype: np.dtype[Any]
    whole: bool = False

    @property
    def _are_whole(self) -> bool:
        return self.whole or self.dtype.kind != "f"

    def place(self, value: float) -> int:
        """The place of a number, as the model reads it: the order of places is that of numbers."""
        if self._are_whole:
            return int(value)
        bits = int(self.dtype.type(value).view(f"i{self.dtype.itemsize}"))
        return bits if bits >= 0 else -(bits & (1 << (8 * self.dtype.itemsize - 1)) - 1)

    def at(self, places: Iterable[int]) -> np.ndarray:
        """The numbers at these places."""
        listed = list(places)
        if self._are_whole:
            return np.array(listed, dtype=self.dtype)
        sign = -(1 << (8 * self.dtype.itemsize - 1))
        bits = np.array([place if place >= 0 else -place + sign for place in listed], dtype=f"i{self.dtype.itemsize}")
        return bits.view(self.dtype)

    def shown(self, place: int) -> float:
        """The number at a place; of those that the model reads as this one, the shortest decimal."""
        number = self.at([place])[0]
        return float(number) if self._are_whole else float(str(number))
