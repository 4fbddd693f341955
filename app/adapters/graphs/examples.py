"""The example requests that come with a model."""

import json
from pathlib import Path
from typing import Any, NoReturn

from app.adapters.files.flaws import BrokenFiles, Flaw
from app.adapters.files.snapshots import Snapshot


def read_example(file: Path, snapshot: Snapshot) -> dict[str, Any]:
    """The request of a file, or `BrokenFiles`."""
    content = snapshot.read(file)
    try:
        request = json.loads(content.decode("utf-8"), parse_constant=_no_number)
    except ValueError as error:
        raise BrokenFiles([Flaw(file, "", f"is not valid JSON: {error}")]) from None
    except RecursionError:
        raise BrokenFiles([Flaw(file, "", "is nested too deeply")]) from None
    if not isinstance(request, dict) or "instance" not in request:
        raise BrokenFiles([Flaw(file, "", 'is not a request: it must be an object with an "instance"')])
    return request


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")
