"""From the folder of a run to one page."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from app.cohorts.report.counting.figures import gather
from app.cohorts.report.errors import NotWritten
from app.cohorts.report.page import page
from app.cohorts.report.run import read_run


def write_report(answers: Path, out: Path, by: Sequence[str]) -> None:
    """Write the report of a run, with groups by the columns `by`, or by all suitable columns if it is empty."""
    text = page(gather(read_run(answers), by))
    beside = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        # In one step: a reader never sees half a page.
        beside.write_text(text, encoding="utf-8", newline="\n")
        beside.replace(out)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise NotWritten(f"{out} cannot be written: {error.strerror}") from None
