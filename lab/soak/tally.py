"""What was counted, and what went wrong."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

MOST_REASONS = 20


@dataclass
class Tally:
    """One for the whole soak; clients of all kinds write into it."""

    counts: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    wrong: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    def count(self, kind: str, what: str) -> None:
        self.counts[kind][what] += 1

    def fail(self, reason: str) -> None:
        self.count("defects", reason[:60])
        if len(self.wrong) < MOST_REASONS:
            self.wrong.append(reason)

    def status(self, kind: str, status: int, headers: dict[str, str]) -> None:
        """Count a status; one that may not be is a failure."""
        self.count(kind, str(status))
        if status == 503 and not headers.get("retry-after", "").isdigit():
            self.fail(f"{kind}: a 503 without Retry-After")
        elif status >= 500 and status != 503:
            self.fail(f"{kind}: a status {status}")

    @property
    def answers(self) -> int:
        return sum(kinds["equal"] for kinds in self.counts.values())

    def quantile(self, share: float) -> float:
        """Milliseconds within which that share of the small answers came."""
        ordered = sorted(self.times)
        return 1000 * ordered[int(share * (len(ordered) - 1))] if ordered else float("nan")
