"""python -m lab.fuzz: 50,000 inputs, every twentieth also to a real server; ends with 1 if any answer is a defect."""

import argparse
import sys
import time

from lab.fuzz.inputs import Examples, inputs
from lab.fuzz.running import Outcome, fuzz_app, fuzz_records, fuzz_server
from tests.support.live_server import ROOT, live_server

LIVE = 20


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=50_000, help="how many")
    parser.add_argument("--seed", type=int, default=0, help="other inputs")
    parser.add_argument("--only", type=int, help="the input of this number alone")
    parser.add_argument("--records", action="store_true", help="the paths of the records alone")
    chosen = parser.parse_args()
    numbers = range(chosen.inputs) if chosen.only is None else range(chosen.only, chosen.only + 1)
    examples, began = Examples(ROOT / "models"), time.monotonic()
    if chosen.records:
        recorded = fuzz_records(examples, chosen.seed, numbers, ROOT / "models", ROOT / "normal_ranges")
        _tell("the records", recorded)
        return 1 if recorded.failures else 0
    here = fuzz_app(inputs(examples, chosen.seed, numbers), ROOT / "models", ROOT / "normal_ranges")
    _tell("in this process", here)
    with live_server(default_deadline_ms="1000", max_deadline_ms="2000") as server:
        there = fuzz_server(inputs(examples, chosen.seed, numbers[::LIVE]), server.url)
        alive = server.process.poll() is None
    _tell("a real server", there)
    print(f"{time.monotonic() - began:.0f} s")
    return 0 if alive and not here.failures and not there.failures else 1


def _tell(where: str, outcome: Outcome) -> None:
    print(f"{where}: {sum(outcome.asked.values()):,} inputs answered, {len(outcome.failures)} with a defect")
    print(f"  kinds: {dict(sorted(outcome.asked.items()))}")
    print(f"  statuses: {dict(sorted(outcome.statuses.items()))}")
    print(f"  the slowest took {outcome.slowest[0]:.2f} s: input {outcome.slowest[1]}")
    for failure in outcome.failures[:20]:
        print(f"  input {failure}")


if __name__ == "__main__":
    sys.exit(main())
