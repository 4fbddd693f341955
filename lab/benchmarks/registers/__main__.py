"""Write a register: `python -m lab.benchmarks.registers MODEL COUNT --seed 7 --out people.parquet [--refused]`."""

import argparse
from pathlib import Path

from lab.benchmarks.registers.drawing import MODELS
from lab.benchmarks.registers.files import UnknownEnding, write
from lab.benchmarks.registers.register import batches


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m lab.benchmarks.registers", description="Write a register.")
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("count", type=int, help="how many people")
    parser.add_argument("--seed", type=int, default=7, help="other people for another number")
    parser.add_argument("--out", type=Path, required=True, help="a file that ends with .parquet, .csv or .ndjson")
    parser.add_argument("--refused", action="store_true", help="only people whom the shipped model refuses")
    given = parser.parse_args()
    if given.count < 1 or given.seed < 0:
        parser.error("COUNT must be 1 or more, and --seed 0 or more")
    try:
        written = write(batches(given.model, given.count, given.seed, refused=given.refused), given.out)
    except UnknownEnding as error:
        parser.error(str(error))
    print(f"{written:,} people in {given.out}")


if __name__ == "__main__":
    main()
