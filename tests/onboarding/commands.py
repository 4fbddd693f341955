"""The commands, run as a person runs them, with folders of their own."""

import os
import subprocess
from pathlib import Path

from tests.support.live_server import FLIPSET
from tests.support.waiting import PATIENCE


def flipset(
    folder: Path, *arguments: object, ready: bool = True, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder that has `models` and `normal_ranges`, unless that is not `ready`."""
    for name in ("models", "normal_ranges") if ready else ():
        (folder / name).mkdir(exist_ok=True)
    return subprocess.run(
        [FLIPSET, *map(str, arguments)],
        check=False,
        cwd=folder,
        capture_output=True,
        text=True,
        env={key: value for key, value in os.environ.items() if not key.startswith("FLIPSET_")} | environment,
        timeout=PATIENCE,
    )


def files_in(folder: Path) -> list[str]:
    """Every file, hidden ones included."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
