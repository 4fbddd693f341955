"""LOINC codes: digits, a hyphen, and a check digit that shows most slips of the pen."""

import re

SYSTEM = "http://loinc.org"
_CODE = re.compile(r"(\d{1,7})-(\d)")


def flaw_of(code: str) -> str | None:
    """Say what is wrong with a code, if anything is."""
    found = _CODE.fullmatch(code)
    if found is None:
        return "is not a LOINC code: write digits, a hyphen and one digit, such as 1742-6"
    if int(found[2]) != check_digit(found[1]):
        return "is not a LOINC code: its last digit does not fit the others"
    return None


def check_digit(digits: str) -> int:
    """By the rule of Luhn: every other digit counts twice, from the last on."""
    doubled = [int(digit) * (2 - place % 2) for place, digit in enumerate(reversed(digits))]
    return -sum(number // 10 + number % 10 for number in doubled) % 10
