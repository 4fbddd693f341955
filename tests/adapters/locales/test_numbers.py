"""Numbers as a country writes them: no digit is lost, and CLDR agrees where it has a say."""

from decimal import Decimal
from random import Random

import pytest
from babel import Locale
from babel.numbers import parse_decimal

from app.adapters.locales.numbers import Numbers


@pytest.mark.parametrize(
    ("tag", "number", "written"),
    [
        ("de", "31.3", "31,3"),
        ("de", "1234.5", "1234,5"),
        ("de", "250000", "250.000"),
        ("de", "-0.50", "-0,50"),
        ("de", "-1234567.250", "-1.234.567,250"),
        ("de", "1e-07", "1e-07"),
        ("de", "1.5e+300", "1,5e+300"),
        ("es", "12345.6", "12.345,6"),
        ("es-MX", "12345.6", "12,345.6"),
        ("es-US", "0.36", "0.36"),
        ("de-CH", "250000.5", "250\N{RIGHT SINGLE QUOTATION MARK}000.5"),
        ("de", "1234567890123456789012345678901234567890.5", "1234567890123456789012345678901234567890,5"),
    ],
)
def test_a_number_is_written_as_in_the_country(tag: str, number: str, written: str):
    assert Numbers(Locale.parse(tag, sep="-"))(number) == written


@pytest.mark.parametrize("tag", ["de", "es", "es-MX", "de-CH"])
def test_what_was_written_reads_back_as_the_same_number(tag: str):
    locale, rng = Locale.parse(tag, sep="-"), Random(25)  # noqa: S311  # nothing here is a secret
    for _ in range(300):
        number = f"{rng.choice(['', '-'])}{rng.randrange(10 ** rng.randrange(1, 9))}.{rng.randrange(10**6):06d}"
        assert parse_decimal(Numbers(locale)(number), locale=locale) == Decimal(number)
