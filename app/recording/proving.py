"""Whether an answer is the one that a receipt is about."""

import json
import re
from collections.abc import Mapping
from typing import Any

from app.adapters.records.sealing import salted
from app.recording.lines import REASONS, Transcript

# What a recorded line holds and its digest does not; no text inside a line could look like it.
_ID = re.compile(r',"record":"[0-9a-f]{32}"\}$')
_RECORDED = re.compile(r',"recorded":(true|false)\}$')
_SERVICE = re.compile(r',"service":\{"name":"flipset","version":"[^"]*"\}')


def is_answer(lines: str, receipt: Mapping[str, Any]) -> bool:
    """Whether these lines, as they were sent, are the answer of a receipt that was checked."""
    taken = Transcript(0)
    told = receipt["record"]["answer"].get("kind")
    # A title may hold what other programs take for the end of a line.
    for line in lines.removesuffix("\n").split("\n"):
        kind = told or json.loads(line).get("type")
        if kind in ("summary", REASONS):
            line = _RECORDED.sub("}", line)
        if kind in ("start", REASONS):
            line = _ID.sub("}", line)
        taken.take(kind, _SERVICE.sub("", line, count=1) if kind == "start" else line)
    return bool(salted(receipt["salt"], taken.sha256) == receipt["record"]["personal"]["answer"])
