"""Numbers keep the digits that they were sent with."""

import json

from hypothesis import given
from hypothesis import strategies as st

from app.adapters.files.numbers import SentNumber, number_text
from app.asking.parsing import parse_json


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_written_so_that_it_is_read_as_the_same(number: float):
    assert json.loads(number_text(number)) == number


@given(st.integers(-(10**30), 10**30))
def test_whole_numbers_keep_all_their_digits(number: int):
    assert number_text(parse_json(str(number).encode())) == str(number)


def test_digits_beyond_64_bits_are_kept():
    (number,) = parse_json(b"[0.1000000000000000000000000001]")
    assert isinstance(number, SentNumber)
    assert number == 0.1
    assert number_text(number) == "0.1000000000000000000000000001"


def test_noughts_keep_their_sign_and_whole_numbers_their_point():
    sent = ["-0", "-0.0", "0", "0.0", "35.0", "1e3"]
    assert [number_text(parse_json(text.encode())) for text in sent] == sent


def test_an_endpoint_is_written_as_people_write_it():
    assert [number_text(number) for number in (35.0, 0.55, -2.0, 1e22)] == ["35", "0.55", "-2", "1e+22"]
