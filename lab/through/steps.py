"""How long ten features with three steps each take, and how many choices are proved: `python -m lab.through.steps`."""

import argparse
import statistics
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from lab.through.asking import ask, count_processor_time, service_of
from lab.through.models import Data, breast_cancer, serve

KINDS = ("logistic", "xgboost", "lightgbm", "forest", "network")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m lab.through.steps")
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--processor", action="store_true", help="count processor time: the machine is busy")
    chosen = parser.parse_args()
    if chosen.processor:
        count_processor_time()
    data = breast_cancer()
    with tempfile.TemporaryDirectory() as folder:
        kinds = tuple(chosen.kinds.split(","))
        serve(Path(folder), data, kinds)
        service = service_of(Path(folder))
        for kind in kinds:
            told = [ask(service, kind, body) for body in islice(_people(data), chosen.people)]
            told = [each for each in told if each.summary.outcome != "already_favourable"]
            seconds = [each.summary.elapsed_ms.search / 1000 for each in told]
            proved = sum(each.summary.complete for each in told)
            engines = sorted({str(each.summary.engine) for each in told})
            print(
                f"{kind}: {len(told)} people, {proved} complete and exact, by {', '.join(engines)}; "
                f"{statistics.median(seconds):.2f} s in the median, {max(seconds):.2f} s at the most; "
                f"{statistics.median(each.summary.count for each in told):g} answers in the median",
                flush=True,
            )


def _people(data: Data) -> Iterator[dict[str, Any]]:
    """Those who are ill, with ten measurements that may come to the median of those who are well in three steps."""
    for row, is_well in zip(data.rows, data.favourable, strict=True):
        if is_well:
            continue
        instance = {name: float(value) for name, value in zip(data.names, row, strict=True)}
        ranges = {
            name: {"high" if instance[name] > data.guide[name] else "low": data.guide[name], "move_to": {"steps": 3}}
            for name in data.names[-10:]
        }
        yield {"instance": instance, "registry": None, "normal_ranges": ranges}


if __name__ == "__main__":
    main()
