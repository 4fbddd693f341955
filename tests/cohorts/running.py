"""Running `flipset cohort` and `flipset drift` as a person would, and reading what it wrote."""

import os
import subprocess
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.support.live_server import FLIPSET, ROOT

TABLES = ("people", "counterfactuals", "rejects")


def cohort(
    *arguments: object,
    models: Path = ROOT / "models",
    ranges: Path = ROOT / "normal_ranges",
    check: bool = True,
    command: str = "cohort",
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [FLIPSET, command, *map(str, arguments)],
        env=environment(models, ranges),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert not check or done.returncode == 0, done.stderr
    return done


drift = partial(cohort, command="drift")


def environment(models: Path = ROOT / "models", ranges: Path = ROOT / "normal_ranges") -> Mapping[str, str]:
    return {**os.environ, "FLIPSET_MODELS_DIR": str(models), "FLIPSET_NORMAL_RANGES_DIR": str(ranges)}


def read(answers: Path, table: str) -> pa.Table:
    return pq.read_table(answers / table)


def files(answers: Path) -> dict[str, bytes]:
    """Every file of a run by its name; its record, which names the command, aside."""
    found = {str(file.relative_to(answers)): file.read_bytes() for file in answers.rglob("*") if file.is_file()}
    assert found.pop("run.json")
    return found
