"""How much is proved of people with 30 movable features and more, and whether it is true.

`python -m lab.through` asks for 100 refused people of each model. `--truth N` holds the answers of N of them against
every subset: 2^30 of them, where 30 features matter, in half a minute. Those of whom fewest features matter come first;
after `--minutes` no further one is begun.
"""

import argparse
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from app.answering.service import Service
from lab.through.asking import Told, ask, count_processor_time, service_of
from lab.through.models import KINDS, Data, breast_cancer, serve
from lab.through.people import people
from lab.through.truth import Judge, minimal_sets, that_matter


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m lab.through")
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--truth", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=60)
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
            judge = Judge((Path(folder) / kind / "model.onnx").read_bytes())
            trial = Trial(service, kind, data, judge)
            trial.run(chosen.people, chosen.truth, monotonic() + 60 * chosen.minutes)
            print(trial.line(), flush=True)
            if trial.wrong:
                sys.exit("an answer is not what scoring every subset gives")


class Trial:
    """One model: what it answered, and how much of that is true."""

    def __init__(self, service: Service, kind: str, data: Data, judge: Judge) -> None:
        self._service, self._kind, self._data, self._judge = service, kind, data, judge
        self._target = np.array([data.guide[name] for name in data.names], dtype=np.float32)
        self._told: list[Told] = []
        self.held = self.wrong = 0

    def run(self, count: int, truths: int, until: float) -> None:
        refused = list(self._refused(count))
        if truths:
            refused.sort(key=lambda each: that_matter(self._judge, self._data.rows[each[0]], self._target))
        for place, body in refused:
            told = ask(self._service, self._kind, body)
            if len(self._told) < truths and monotonic() < until:
                self._hold(place, told)
            # The answers of a hundred people are too many to keep.
            self._told.append(replace(told, answers=[]))

    def _refused(self, count: int) -> Iterator[tuple[int, dict[str, Any]]]:
        return islice(
            (each for each in people(self._data) if not self._judge.favours(self._data.rows[each[0]][None])[0]), count
        )

    def _hold(self, place: int, told: Told) -> None:
        truth = minimal_sets(self._judge, self._data.rows[place], self._target)
        self.held += truth is not None
        self.wrong += truth is not None and not _is_true(told, truth)

    def line(self) -> str:
        return _line(self._kind, self._told, self.held, self.wrong)


def _is_true(told: Told, truth: set[frozenset[int]]) -> bool:
    """All of them, or all up to the size that is told, and nothing else."""
    assert told.summary is not None
    settled = told.summary.complete_up_to
    found = set(told.answers)
    return found <= truth and {answer for answer in truth if len(answer) <= settled} <= found


def _line(kind: str, refused: list[Told], held: int, wrong: int) -> str:
    summaries = [told.summary for told in refused if told.summary is not None]
    exact = sum(each.complete and each.guarantee == "exact" for each in summaries)
    seconds = [each.elapsed_ms.search / 1000 for each in summaries]
    few = sum(each.count <= 500_000 or each.complete for each in summaries)
    return (
        f"{kind}: {exact} of {len(summaries)} complete and exact ({few} with at most 500,000 answers seen); search "
        f"median {statistics.median(seconds):.3f} s, most {max(seconds):.3f} s; answers median "
        f"{statistics.median(each.count for each in summaries):.0f}, most {max(each.count for each in summaries)}; "
        f"held against every subset {held}, wrong {wrong}"
    )


main()
