"""Numbers as a country writes them, with every digit that was sent."""

from babel import Locale
from babel.numbers import format_decimal, get_decimal_symbol

# A whole number with fewer digits is not grouped: 1234, but 12.345. A reader may take 1.234 for a fraction.
# Nor is one with more digits than babel takes.
LEAST_GROUPED, MOST_GROUPED = 5, 15


class Numbers:
    """Writes the text of a JSON number in another way; it changes no digit."""

    def __init__(self, locale: Locale) -> None:
        self._locale = locale
        self._point = get_decimal_symbol(locale)

    def __call__(self, number: str) -> str:
        whole, point, rest = number.partition(".")
        digits = whole.removeprefix("-")
        if LEAST_GROUPED <= len(digits) <= MOST_GROUPED and digits.isdecimal():
            digits = format_decimal(int(digits), locale=self._locale)
        return f"{'-' if number.startswith('-') else ''}{digits}{self._point if point else ''}{rest}"
