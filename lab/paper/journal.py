"""What has been answered so far, a line each, so that a run that was stopped goes on where it was."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lab.paper.questions.asking import Answer, Asked


class Journal:
    """A file of answers, in the order that they came in."""

    def __init__(self, file: Path) -> None:
        self._file = file
        if file.exists():
            self._cut_torn_line()
        else:
            file.touch()

    def __iter__(self) -> Iterator[Asked]:
        with self._file.open(encoding="utf-8") as lines:
            for line in lines:
                yield _asked(json.loads(line))

    def write(self, asked: Asked) -> None:
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(_as_json(asked)) + "\n")

    def _cut_torn_line(self) -> None:
        """A run that was killed may have left half a line."""
        content = self._file.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if whole != content:
            self._file.write_bytes(whole)


def _as_json(asked: Asked) -> dict[str, Any]:
    return {
        "condition": asked.condition,
        "person": asked.person,
        "instance": asked.instance.tolist(),
        "favoured": asked.favoured,
        "monotone": asked.monotone,
        "minimal": [sorted(subset) for subset in asked.minimal],
        "answers": _answers_as_json(asked.answers),
        "same_seed": _answers_as_json(asked.same_seed),
    }


def _answers_as_json(answers: Mapping[str, Answer]) -> dict[str, Any]:
    return {
        name: {"rows": answer.rows.tolist(), "valid": answer.valid, "seconds": answer.seconds}
        for name, answer in answers.items()
    }


def _asked(line: dict[str, Any]) -> Asked:
    instance = np.array(line["instance"], dtype=np.float64)
    return Asked(
        line["condition"],
        line["person"],
        instance,
        line["favoured"],
        line["monotone"],
        tuple(map(frozenset, line["minimal"])),
        _answers(line["answers"], len(instance)),
        _answers(line["same_seed"], len(instance)),
    )


def _answers(entries: Mapping[str, Any], width: int) -> dict[str, Answer]:
    return {
        name: Answer(
            np.array(entry["rows"], dtype=np.float64).reshape(-1, width), tuple(entry["valid"]), entry["seconds"]
        )
        for name, entry in entries.items()
    }
