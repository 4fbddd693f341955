"""Every kind of bad row, in the three formats, for the model `hcv` and one with features of every kind.

A kind is a mistake in one column, or in a line or a file, of one format. Each is a file of its own with good rows
around the bad one, so that a run over a folder of them shows that nothing else is lost. Most are to be rejected; some
are controls, which only look bad. The same ones come in the same order every time.
"""

from collections.abc import Iterator

from tests.cohorts.reading.bad_csv import bad_csv
from tests.cohorts.reading.bad_ndjson import bad_ndjson
from tests.cohorts.reading.bad_parquet import bad_parquet
from tests.cohorts.reading.kinds import Kind


def bad_rows() -> Iterator[Kind]:
    yield from bad_csv()
    yield from bad_ndjson()
    yield from bad_parquet()
