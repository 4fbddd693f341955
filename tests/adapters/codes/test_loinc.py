"""LOINC codes by their check digits."""

import pytest

from app.adapters.codes.loinc import flaw_of
from tests.support.bundles import CODES


@pytest.mark.parametrize("code", ["24325-3", "8867-4", *(code for codes in CODES.values() for code in codes)])
def test_published_codes_are_codes(code: str):
    assert flaw_of(code) is None


@pytest.mark.parametrize("code", ["1742-5", "1724-6", "17426", "1742-", "-6", "a-1", "", "12345678-1", "1742-6 "])
def test_a_slip_of_the_pen_is_noticed(code: str):
    assert flaw_of(code)
