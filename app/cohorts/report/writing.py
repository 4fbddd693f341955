"""From the folder of a run to one page."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from app.cohorts.report.errors import NotWritten
from app.cohorts.report.figures import gather
from app.cohorts.report.page import page
from app.cohorts.report.run import read_run


def write_report(answers: Path, out: Path, by: Sequence[str]) -> None:
    """Write the report on a run; by which columns the groups are made, or by all that can serve where none is named."""
    text = page(gather(read_run(answers), by))
    beside = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        # Whoever has the old page open never reads half of a new one.
        beside.write_text(text, encoding="utf-8", newline="\n")
        beside.replace(out)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise NotWritten(f"{out} cannot be written: {error.strerror}") from None
