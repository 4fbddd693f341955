"""The choice of a language by the header Accept-Language."""

from functools import lru_cache

from app.adapters.locales.language import IN_ENGLISH, Language
from app.adapters.locales.languages import Languages
from app.writing.forms import parsed_range

# A longer header is read up to there, and a longer tag is none: nobody asks for so many languages.
LONGEST_HEADER = 1_000
LONGEST_TAG = 35


def choose_language(accept: str | None, languages: Languages) -> Language:
    """The language that the client likes best among those that are spoken here; English if there is none.

    Of two that it likes alike, the one that it names first.
    """
    if not accept:
        return IN_ENGLISH
    for tag in _liked(accept[:LONGEST_HEADER]):
        found = IN_ENGLISH if tag == "*" else languages.closest(tag)
        if found is not None:
            return found
    return IN_ENGLISH


@lru_cache(maxsize=64)
def _liked(accept: str) -> tuple[str, ...]:
    """The tags, the best first. Clients of a kind all send the same header."""
    ranges = [parsed_range(part) for part in accept.split(",")]
    ranked = sorted(ranges, key=lambda each: -each[1])
    return tuple(tag for tag, quality in ranked if quality > 0 and 0 < len(tag) <= LONGEST_TAG)
