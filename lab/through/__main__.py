"""How much is proved of people with 30 movable features and more, and whether it is true.

`python -m lab.through` asks for 100 refused people of each model. `--truth N` holds the answers of the first N against
every subset: 2^30 of them, where 30 features matter, in half a minute.
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from lab.through.asking import Told, ask, service_of
from lab.through.models import KINDS, Data, breast_cancer, serve
from lab.through.people import people
from lab.through.truth import Judge, minimal_sets


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m lab.through")
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--truth", type=int, default=0)
    parser.add_argument("--kinds", default=",".join(KINDS))
    chosen = parser.parse_args()
    data = breast_cancer()
    with tempfile.TemporaryDirectory() as folder:
        kinds = tuple(chosen.kinds.split(","))
        serve(Path(folder), data, kinds)
        service = service_of(Path(folder))
        for kind in kinds:
            judge = Judge((Path(folder) / kind / "model.onnx").read_bytes())
            refused: list[Told] = []
            held = wrong = 0
            for place, body in people(data):
                told = ask(service, kind, body)
                if told.favourable:
                    continue
                refused.append(told)
                if len(refused) <= chosen.truth:
                    truth = _truth(judge, data, place)
                    held += truth is not None
                    wrong += truth is not None and not _is_true(told, truth)
                if len(refused) == chosen.people:
                    break
            print(_line(kind, refused, held, wrong), flush=True)
            if wrong:
                sys.exit("an answer is not what scoring every subset gives")


def _truth(judge: Judge, data: Data, place: int) -> set[frozenset[int]] | None:
    guide = data.guide
    return minimal_sets(judge, data.rows[place], data.rows.dtype.type([guide[name] for name in data.names]))


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
