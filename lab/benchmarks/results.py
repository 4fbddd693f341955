"""What was measured, and on what; kept as JSON. Some groups may have been measured later than the others."""

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lab.benchmarks.figures import Figure

PACKAGES = (
    *("fastapi", "flipset", "numpy", "onnxruntime", "pyarrow", "pydantic", "ray", "starlette", "uvicorn"),
    "z3-solver",
)
Machine = dict[str, Any]


def this_machine() -> Machine:
    return {
        "cores": os.cpu_count(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
    }


@dataclass(frozen=True)
class Results:
    """A run. `apart` says of each group that another run has added what machine that was."""

    figures: tuple[Figure, ...]
    quick: bool
    machine: Machine = field(default_factory=this_machine)
    apart: dict[str, Machine] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path) -> "Results":
        content = json.loads(file.read_text(encoding="utf-8"))
        figures = tuple(Figure.of_json(figure) for figure in content["figures"])
        return cls(figures, content["quick"], content["machine"], content.get("apart", {}))

    def write(self, file: Path) -> None:
        figures = [figure.as_json() for figure in self.figures]
        content = {"quick": self.quick, "machine": self.machine, "apart": self.apart, "figures": figures}
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")

    def with_newer(self, newer: "Results", order: Sequence[str]) -> "Results":
        """The groups of another run in the place of the same ones here, or among them; groups come in this order."""
        groups = {figure.group for figure in newer.figures}
        figures = [figure for figure in self.figures if figure.group not in groups] + list(newer.figures)
        figures.sort(key=lambda figure: order.index(figure.group))
        return replace(
            self, figures=tuple(figures), apart={**self.apart, **dict.fromkeys(sorted(groups), newer.machine)}
        )
