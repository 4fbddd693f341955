"""Marks: values that can be mistaken for nothing else, sent to a server to see where they turn up again."""

import struct
from collections.abc import Iterable
from urllib.parse import quote

import numpy as np

# Values of an instance: a number, one that breaks a model down, a text, a category, and what else is known of a person.
AMOUNT = 41.4142135623
RATE = 27.1828182845
INDEX = 8414213
TEXT = "wilhelmina-of-the-lake"
CATEGORY = "mauve-with-stripes"
REGION = "behind-the-seven-hills"
GUIDE = 16.1803398874
LOW = 12.5992104989
# Of a request: what is no value of an instance, and is nobody's business all the same.
KEY = "open-sesame-0123456789"
QUERY = "patient-rumpelstiltskin"
GARBAGE = "gobbledygook-of-mine"
# Names that a refusal may quote, for the person who sent them, but that are written down nowhere.
NAME = "the_name_of_a_field"
# What the model says of the marked instance, and of its changed rows.
SCORES = (0.1415926535, 0.4718511627, 0.8021096719)

VALUES = (AMOUNT, RATE, INDEX, TEXT, CATEGORY, REGION, GUIDE, LOW, *SCORES)
SECRETS = (*VALUES, KEY, QUERY, GARBAGE)
ALL = (*SECRETS, NAME)


def spellings(mark: float | str) -> set[bytes]:
    """A mark as programs write it: shortest, rounded to few digits or to single precision, and in binary."""
    if isinstance(mark, str):
        return {text.encode() for text in (mark, mark.upper(), mark.title(), quote(mark), mark.replace("-", "_"))}
    texts = {repr(mark), f"{mark:g}", f"{mark:.4f}", f"{mark:.5e}", str(np.float32(mark)), repr(-mark)}
    if mark == int(mark):
        texts = {str(int(mark)), f"{int(mark):,}", repr(float(mark))}
    # In whole bytes, as a protocol buffer would hold it.
    return {text.encode() for text in texts} | {struct.pack("<d", mark), struct.pack("<d", -mark)}


def found(marks: Iterable[float | str], written: bytes) -> set[float | str]:
    """The marks that stand in what was written, in whatever spelling."""
    return {mark for mark in marks if any(spelling in written for spelling in spellings(mark))}
