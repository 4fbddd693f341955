"""The rows that could not be read, by their reason."""

from collections import Counter
from dataclasses import dataclass, field

import pyarrow as pa

COLUMNS = ("fields", "reason")
# A reason may quote the row: at most this many different ones are listed, and the rest is counted.
MOST_REASONS = 1000


@dataclass
class RejectTally:
    """How often each reason was given, with the fields that it is about."""

    rows: int = 0
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)
    other: int = 0

    def add(self, batch: pa.RecordBatch) -> None:
        self.rows += batch.num_rows
        fields = (", ".join(names or ()) for names in batch.column("fields").to_pylist())
        for key, count in Counter(zip(fields, batch.column("reason").to_pylist(), strict=True)).items():
            if key in self.reasons or len(self.reasons) < MOST_REASONS:
                self.reasons[key] += count
            else:
                self.other += count
