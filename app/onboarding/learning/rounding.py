"""As many digits as the data have, and no more."""

from dataclasses import dataclass

import numpy as np

from app.adapters.files.numbers import number_text
from app.core.favourable import Floats

MOST_DECIMALS = 6
DIGITS = 5
# Enough to see how many decimals there are.
MOST_SEEN = 10_000


@dataclass(frozen=True, slots=True)
class Rounding:
    """To so many decimals, or to five digits where that is None."""

    decimals: int | None

    @classmethod
    def of(cls, values: Floats) -> "Rounding":
        """As many decimals as these values have; a limit between two of them is rounded like them."""
        seen = values[:: max(1, len(values) // MOST_SEEN)]
        for decimals in range(MOST_DECIMALS + 1):
            if np.array_equal(np.round(seen, decimals), seen):
                return cls(decimals)
        return cls(None)

    def __call__(self, value: float) -> float:
        if self.decimals is None:
            return float(f"{value:.{DIGITS}g}")
        # Adding 0 takes the sign from -0.
        return round(value, self.decimals) + 0.0

    def text(self, value: float) -> str:
        return number_text(self(value))


def percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.1 or share == 0 else f"{100 * share:.1f} %"
