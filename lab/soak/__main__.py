"""python -m lab.soak: a mixed load on a live server for 5 minutes; ends with 1, and the reasons, if a check fails."""

import argparse
import os
import sys

from lab.soak.running import Plan, Result, soak
from lab.soak.verdict import at_the_end, flaws, minute_one


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300, help="how long the load lasts")
    parser.add_argument("--workers", type=int, default=max(2, os.cpu_count() or 2), help="processes of the server")
    parser.add_argument("--kill", action="store_true", help="kill a worker every now and then (kill -9)")
    chosen = parser.parse_args()
    result = soak(Plan(chosen.seconds, chosen.workers, chosen.kill))
    print(told(result))
    found = list(flaws(result))
    print("\n".join(["", "Failed:", *(f"- {flaw}" for flaw in found)]) if found else "\nPassed.")
    return 1 if found else 0


def told(result: Result) -> str:
    """What was counted, as a table."""
    tally, seconds = result.tally, result.plan.seconds
    rows = [
        (kind, ", ".join(f"{what} {count:,}" for what, count in sorted(tally.counts[kind].items())))
        for kind in sorted(tally.counts)
    ]
    rows += [
        ("compared with the idle server", f"{tally.answers:,} answers equal, {tally.answers / seconds:.0f} a second"),
        ("small searches took", f"{tally.quantile(0.5):.1f} ms (median), {tally.quantile(0.99):.1f} ms (99 of 100)"),
        (
            "memory of all workers",
            f"{minute_one(result):.0f} MB around minute one, {at_the_end(result):.0f} MB at the end",
        ),
        ("memory on the way", _on_the_way(result)),
        ("memory while nobody asks", " MB before, ".join(f"{held:.0f}" for held in result.quiet_memory) + " MB after"),
        ("threads, files of each before", _held(result.before)),
        ("threads, files of each after", _held(result.after)),
        ("searches in flight after", "not told" if result.in_flight is None else f"{result.in_flight:g}"),
        ("processor used after", f"{result.idle_share:.1%}"),
    ]
    if result.plan.kill:
        times = ", ".join(f"{seconds:.1f}" for seconds in result.back_after)
        rows.append(("workers killed", f"{len(result.back_after)}, back after {times} s"))
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {said}" for name, said in rows)


def _on_the_way(result: Result) -> str:
    """Ten figures, each the mean of a tenth of the time."""
    return ", ".join(f"{result.memory_between(tenth / 10, (tenth + 1) / 10):.0f}" for tenth in range(10)) + " MB"


def _held(workers: dict[int, object]) -> str:
    return ", ".join(f"{held.threads}/{held.files}" for held in workers.values())


if __name__ == "__main__":
    sys.exit(main())
