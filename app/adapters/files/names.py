"""Names that are not known, and the ones that were probably meant."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

# Error messages cut longer names of a request.
LONGEST_NAME = 100
MOST_LISTED = 30


def closest(name: str, known: Iterable[str]) -> str:
    """The question `did you mean ...?` with the closest known name; empty if none is close."""
    near = nearest(name, known)
    return f"did you mean {near!r}?" if near else ""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that looks most like this one, in capitals or not; None if none is close."""
    by_letters = {each.casefold(): each for each in known}
    near = get_close_matches(name[:LONGEST_NAME].casefold(), by_letters, n=1)
    return by_letters[near[0]] if near else None


def suggestion(name: str, known: Iterable[str]) -> str:
    """The name that was probably meant, or else all of them."""
    names = list(known)
    more = ", ..." if len(names) > MOST_LISTED else ""
    return closest(name, names) or f"known: {', '.join(names[:MOST_LISTED])}{more}"


def ended(message: str) -> str:
    """A message as a sentence; a question already is one."""
    return message if message.endswith("?") else f"{message}."


def counted(count: int, one: str, more: str | None = None) -> str:
    """A number of things; `more` is the plural where that is not `one` with an s."""
    return f"{count:,} {one if count == 1 else more or f'{one}s'}"


def listed(names: Sequence[str], word: str = "and") -> str:
    """Names joined for a sentence; only the first ones if there are many."""
    shown = list(names[:MOST_LISTED])
    if len(names) > MOST_LISTED:
        shown.append(f"{len(names) - MOST_LISTED} others")
    return f" {word} ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))
