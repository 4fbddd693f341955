"""Names that are not known, and the ones that were probably meant."""

from collections.abc import Iterable
from difflib import get_close_matches

# Longer names of a request are cut before they are repeated to whoever sent them.
LONGEST_NAME = 100
MOST_LISTED = 30


def closest(name: str, known: Iterable[str]) -> str:
    """A question about the name that was probably meant; empty where none is near."""
    near = get_close_matches(name[:LONGEST_NAME], list(known), n=1)
    return f"did you mean {near[0]!r}?" if near else ""


def suggestion(name: str, known: Iterable[str]) -> str:
    """The name that was probably meant, or else all of them."""
    names = list(known)
    more = ", ..." if len(names) > MOST_LISTED else ""
    return closest(name, names) or f"known are {', '.join(names[:MOST_LISTED])}{more}"
