"""Numbers and lists the way that people read them."""

from collections.abc import Sequence

from app.adapters.files.names import counted
from app.cohorts.report.counting.intervals import Interval, Part

# A space that does not break, between a number and its sign.
JOINED = "\u00a0"
MINUS = "\u2212"
# Where there is no number.
NONE = "\u2013"


def number(count: int) -> str:
    return f"{count:,}"


def people(count: int) -> str:
    return counted(count, "person", "people")


def percent(share: float) -> str:
    """A share with one decimal; only 0 is shown as 0 %, and only 1 as 100 %."""
    if 0 < share < 0.0005:
        return f"under 0.1{JOINED}%"
    if 0.9995 <= share < 1:
        return f"over 99.9{JOINED}%"
    return f"{100 * share:.1f}{JOINED}%"


def percent_of(part: Part) -> str:
    return percent(part.share) if part.of else NONE


def interval(found: Interval) -> str:
    return f"{100 * found.low:.1f} to {100 * found.high:.1f}{JOINED}%"


def points(difference: float) -> str:
    """A difference in percentage points, without a sign; small ones keep a digit that is not zero."""
    size = abs(100 * difference)
    if 0 < size < 0.05:
        return f"{size:.1g}" if size >= 0.001 else "under 0.001"
    return f"{size:.1f}"


def signed_points(difference: float) -> str:
    sign = MINUS if difference < 0 else "+" if difference > 0 else ""
    return f"{sign}{points(difference)}"


def ratio(value: float) -> str:
    """A ratio with two decimals; a small one keeps a digit that is not zero, and none is rounded up to four fifths."""
    if 0 < value < 0.005:
        return f"{value:.1g}" if value >= 0.0001 else "under 0.0001"
    return "under 0.80" if 0.795 <= value < 0.8 else f"{value:.2f}"


def ratios(found: Interval) -> str:
    return f"{ratio(found.low)} to {ratio(found.high)}"


def score(value: float | None) -> str:
    if value is None:
        return NONE
    return f"{value:.3f}" if abs(value) < 10 else f"{value:,.4g}"


def unbroken(text: str) -> str:
    """For a cell of a table, which is narrow."""
    return text.replace(" ", JOINED)


def listed(words: Sequence[str]) -> str:
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
