"""The lines of an answer as they are recorded: the same for every form, whenever they are asked for.

Left out is what differs from one time to the next: the times in the summary, all lines of progress, the id of the
record, and the version of the service, which the record names for itself.
"""

import hashlib
import re

from app.writing.lines import SERVICE

_SERVICE = f',"service":{SERVICE}'
# Before it come only numbers and words of ours; no text of a model or a request could look like it.
_ELAPSED = re.compile(r',"elapsed_ms":(\{[^}]*\}|[^,]*)')
# How an answer about reasons is called, which is one line.
REASONS = "reasons"


def timeless(kind: str, text: str) -> str:
    """The line without what differs from one time to the next."""
    if kind == "start":
        return text.replace(_SERVICE, "", 1)
    return _ELAPSED.sub("", text, count=1) if kind in ("summary", REASONS) else text


class Transcript:
    """The lines of one answer, taken down: the first plans as they are, and all of them as a digest.

    The digest of an answer is the SHA-256 of its recorded lines, each in UTF-8 and followed by a line feed.
    """

    def __init__(self, most_plans: int) -> None:
        self._most = most_plans
        self._digest = hashlib.sha256()
        self.start = ""
        self.plans: list[str] = []
        self.count = 0
        self.last: tuple[str, str] | None = None
        self.plans_sha256 = ""

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()

    def take(self, kind: str, text: str) -> None:
        if kind == "counterfactual":
            self.count += 1
            if self.count <= self._most:
                self.plans.append(text)
        elif kind == "progress":
            return
        else:
            text = timeless(kind, text)
            if kind == "start":
                self.start = text
            else:
                self.last, self.plans_sha256 = (kind, text), self.sha256
        if kind != "error":
            self._digest.update(f"{text}\n".encode())

    def sha256_of_plans(self) -> str:
        """Of all lines but the last."""
        return self.plans_sha256 if self.last is not None else self.sha256
