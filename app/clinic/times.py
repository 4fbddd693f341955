"""Dates of FHIR, which may lack the day or the month, and a person's age."""

import re
from calendar import monthrange
from datetime import UTC, date, datetime, timedelta

_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?", re.ASCII)

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)", re.ASCII)

# Other clocks may be ahead of ours, and on the other side of the earth it may be tomorrow.
_AHEAD, _TOMORROW = timedelta(minutes=5), timedelta(hours=14)


class BadTime(Exception):
    """Not a date or a time of FHIR."""


def instant_of(text: str) -> datetime:
    """The first moment that a date or a time can mean, in UTC."""
    try:
        if _DATE.fullmatch(text):
            return datetime.combine(_first_day(text), datetime.min.time(), UTC)
        if not _TIME.fullmatch(text):
            raise BadTime
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadTime from None


def is_to_come(text: str) -> bool:
    """Whether a date or a time is in the future, wherever it was written."""
    return instant_of(text) - datetime.now(UTC) > (_TOMORROW if _DATE.fullmatch(text) else _AHEAD)


def day_of(text: str) -> date:
    """The day on which it was, where it was."""
    instant_of(text)
    return _first_day(text[:10])


def _first_day(text: str) -> date:
    found = _DATE.fullmatch(text)
    if found is None:
        raise BadTime
    return date(int(found[1]), int(found[2] or 1), int(found[3] or 1))


def is_day(text: str) -> bool:
    """Whether it is a date, be it without the day or the month."""
    try:
        _first_day(text)
    except (BadTime, ValueError):
        return False
    return True


def age_on(birth_date: str, day: date) -> int | None:
    """Whole years on a day; None where the day of birth is not known well enough, or not reached."""
    oldest, youngest = _years(_first_day(birth_date), day), _years(_last_day(birth_date), day)
    return oldest if oldest == youngest and oldest >= 0 else None


def _last_day(text: str) -> date:
    found = _DATE.fullmatch(text)
    if found is None:
        raise BadTime
    year, month = int(found[1]), int(found[2] or 12)
    return date(year, month, int(found[3] or monthrange(year, month)[1]))


def _years(born: date, day: date) -> int:
    return day.year - born.year - ((day.month, day.day) < (born.month, born.day))
