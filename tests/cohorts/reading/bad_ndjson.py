"""Bad rows of JSON lines: values that are none of a feature's, and lines that are no object."""

import json
from collections.abc import Iterator, Mapping

from tests.cohorts.reading.kinds import PERSON, SUBJECTS, Fate, Kind, Subject

# As they stand in the line.
NO_NUMBERS: Mapping[str, str] = {
    "word": '"high"',
    "number-in-quotes": '"38.5"',
    "decimal-comma-in-quotes": '"38,5"',
    "empty-text": '""',
    "spaces": '"   "',
    "NaN-in-quotes": '"NaN"',
    "null-in-quotes": '"null"',
    "true": "true",
    "false": "false",
    "empty-list": "[]",
    "list": "[38.5]",
    "deep-list": "[" * 200 + "]" * 200,
    "empty-object": "{}",
    "object": '{"value": 38.5}',
    "nul": '"\\u0000"',
    "lone-surrogate": '"\\ud800"',
    "very-long": '"' + "x" * 20_000 + '"',
}
NOT_FINITE = {
    "NaN": "NaN",
    "Infinity": "Infinity",
    "minus-infinity": "-Infinity",
    "beyond-64-bits": "1e400",
    "minus-beyond-64-bits": "-1e400",
    "long-number": "9" * 401,
    "very-long-number": "9" * 5_000,
}
TOO_LARGE = {"beyond-32-bits": "1e39", "minus-beyond-32-bits": "-3.5e38", "whole-beyond-32-bits": "4" + "0" * 38}
FRACTIONS = {"fraction": "2.5", "small-fraction": "1e-3"}
NO_CATEGORIES = {
    "unknown": '"lends"',
    "upper-case": '"RENTS"',
    "capital": '"Rents"',
    "spaces-around": '" rents "',
    "part": '"rent"',
    "empty-text": '""',
    "code": "0",
    "code-in-quotes": '"0"',
    "number": "1.5",
    "lone-surrogate": '"\\ud800"',
    "nul": '"rents\\u0000"',
    "look-alike": '"r\\u0435nts"',
    "very-long": '"' + "rents" * 5_000 + '"',
}
# What is refused before it is known that a category is wanted.
NO_VALUES = {
    "true": "true",
    "false": "false",
    "list": '["rents"]',
    "object": '{"is": "rents"}',
    "NaN": "NaN",
    "Infinity": "Infinity",
    "beyond-64-bits": "1e400",
}
NO_AGES = {
    "word": '"old"',
    "number-in-quotes": '"45"',
    "empty-text": '""',
    "true": "true",
    "NaN": "NaN",
    "list": "[45]",
    "object": '{"years": 45}',
    "infinity": "Infinity",
    "beyond-64-bits": "1e400",
    "lone-surrogate": '"\\ud800"',
}
NO_FACTS = {"list": '["male"]', "object": '{"is": "male"}', "NaN": "NaN", "beyond-64-bits": "1e400"}
NO_JSON = {
    "decimal-comma": "38,5",
    "no-digit-before-the-point": ".5",
    "no-digit-behind-the-point": "38.",
    "plus": "+38",
    "leading-nought": "038",
    "hexadecimal": "0x26",
    "underscore": "1_000",
    "word-without-quotes": "high",
    "nan-in-small-letters": "nan",
    "none": "None",
    "true-with-a-capital": "True",
    "undefined": "undefined",
    "nothing": "",
    "single-quotes": "'38.5'",
    "open-quote": '"38.5',
    "open-list": "[38.5",
    "open-object": '{"value": 38.5',
    "raw-control-character": '"3\x018"',
    "raw-nul": "3\x008",
    "byte-order-mark": "\ufeff38.5",
    "unknown-escape": '"\\x38"',
    "cut-escape": '"\\u00"',
    "comment": "38.5 /* g/L */",
    "formula": "19+19",
}


def bad_ndjson() -> Iterator[Kind]:
    for subject in SUBJECTS:
        yield from _values(subject)
        yield from _context(subject)
        yield from _keys(subject)
        yield from _lines(subject)
        yield from _files(subject)


def _values(subject: Subject) -> Iterator[Kind]:
    for name in (*subject.numbers, *subject.wholes):
        yield from _each(subject, name, NO_NUMBERS, name, "number")
        yield from _each(subject, name, NOT_FINITE, name, "finite")
        yield from _each(subject, name, TOO_LARGE, name, "too large")
        yield from _each(subject, name, {"whole": "38", "exponent": "3.8e1"}, fate=Fate.ACCEPTED)
    for name in subject.wholes:
        yield from _each(subject, name, FRACTIONS, name, "whole")
        yield from _each(
            subject, name, {"null": "null", "missing-code": "-9", "point-nought": "2.0"}, fate=Fate.ACCEPTED
        )
    for name in (*subject.numbers, *subject.categories):
        yield from _each(subject, name, {"null": "null"}, name, "missing")
    for name in subject.categories:
        yield from _each(subject, name, NO_CATEGORIES, name, "one of")
        yield from _each(subject, name, NO_VALUES, name)
        yield from _each(subject, name, {"escaped": '"own\\u0073"', "other": '"other"'}, fate=Fate.ACCEPTED)
    for name in subject.features:
        yield from _each(subject, name, NO_JSON, "JSON")
        yield _line(subject, f"{name}-not-utf8", _text(subject, name, '"\udcff"'), "UTF-8")


def _each(
    subject: Subject, name: str, mistakes: Mapping[str, str], *mentions: str, fate: Fate = Fate.REJECTED
) -> Iterator[Kind]:
    for mistake, text in mistakes.items():
        yield _line(subject, f"{name}-{mistake}", _text(subject, name, text), *mentions, fate=fate)


def _context(subject: Subject) -> Iterator[Kind]:
    if "age" in subject.context:
        yield from _each(subject, "age", NO_AGES, "age")
        yield from _each(subject, "sex", NO_FACTS, "sex")
        yield from _each(subject, "age", {"null": "null", "negative": "-1"}, fate=Fate.ACCEPTED)
        yield from _each(subject, "sex", {"null": "null", "unknown": '"x"', "true": "true"}, fate=Fate.ACCEPTED)
        for name in subject.context:
            yield _line(subject, f"{name}-absent", _renamed(subject, name, None), fate=Fate.ACCEPTED)


def _keys(subject: Subject) -> Iterator[Kind]:
    for name in subject.features:
        yield _line(subject, f"{name}-absent", _renamed(subject, name, None), name, "missing")
        yield _line(subject, f"{name}-key-case", _renamed(subject, name, name.swapcase()), name, "missing")
        yield _line(subject, f"{name}-key-space", _renamed(subject, name, f"{name} "), name, "missing")
        twice = _text(subject).replace(b"{", b'{"%b": 1, ' % name.encode(), 1)
        yield _line(subject, f"{name}-key-twice", twice, name, "twice")
    yield _line(subject, "other-key", _text(subject).replace(b"{", b'{"other": [1], ', 1), fate=Fate.ACCEPTED)
    yield _line(subject, "other-key-twice", _text(subject).replace(b"{", b'{"o": 1, "o": 1, ', 1), "twice")
    inside = b'{"person": "a", "instance": %b}' % _text(subject)
    yield _line(subject, "instance-inside", inside, subject.numbers[0], "missing")
    yield from _each(subject, PERSON, {"null": "null", "number": "7"}, fate=Fate.ACCEPTED)
    odd = {"list": "[1]", "object": "{}", "true": "true", "lone-surrogate": '"\\ud800"', "nul": '"\\u0000"'}
    yield from _each(subject, PERSON, odd, fate=Fate.COUNTED)


def _lines(subject: Subject) -> Iterator[Kind]:
    good = _text(subject)
    for share in range(1, 20):
        yield _line(subject, f"cut-{share}", good[: len(good) * share // 20], "JSON")
    broken = {
        "two-objects": good + good,
        "two-objects-and-a-comma": good + b", " + good,
        "comma-behind": good + b",",
        "comma-before-the-end": good[:-1] + b",}",
        "no-end": good[:-1],
        "one-end-too-many": good + b"}",
        "single-quotes": good.replace(b'"', b"'"),
        "keys-without-quotes": good.replace(b'"person"', b"person"),
        "comment": good + b" // all of it",
        "csv": b"a,38.5,40",
        "xml": b"<person/>",
        "nul-bytes": b"\x00" * 20,
        "byte-order-mark-inside": good.replace(b"{", b"{\xef\xbb\xbf", 1),
    }
    for mistake, line in broken.items():
        yield _line(subject, mistake, line, "JSON")
    for mistake, line in {"array": b"[%b]" % good, "number": b"38.5", "text": b'"a"', "null": b"null"}.items():
        yield _line(subject, mistake, line, "object")
    yield _line(subject, "empty-object", b"{}", subject.numbers[0], "missing")
    yield _line(subject, "utf-16", good.decode().encode("utf-16-be").replace(b"\n", b""))
    yield _line(subject, "gzip", b"\x1f\x8b\x08\x00\x00\x00\x00\x00")
    deep = 100_000
    yield _line(subject, "deep-lists", b"[" * deep + b"]" * deep, "nested")
    yield _line(subject, "deep-objects", b'{"a":' * deep + b"1" + b"}" * deep, "nested")
    yield _line(subject, "deep-lists-open", b"[" * deep)
    inside = good.replace(b"{", b'{"other": %b, ' % (b"[" * deep + b"]" * deep), 1)
    yield _line(subject, "deep-inside", inside, "nested")


def _files(subject: Subject) -> Iterator[Kind]:
    good, model = _text(subject), subject.model
    pretty = json.dumps(subject.people(1)[0], indent=1).encode()
    lines = pretty.count(b"\n") + 1
    every = tuple(range(1, lines + 1))
    yield Kind(f"{model}-ndjson-pretty", model, "ndjson", pretty, lines, every, every, mentions=("JSON",))
    array = b"[\n%b,\n%b\n]\n" % (good, good)
    yield Kind(f"{model}-ndjson-one-array", model, "ndjson", array, 4, (1, 2, 4), (1, 2, 4), mentions=("JSON",))
    for mistake, content in {
        "line-ends-of-windows": b"%b\r\n%b\r\n" % (good, good),
        "byte-order-mark-at-the-start": b"\xef\xbb\xbf%b\n%b\n" % (good, good),
        "no-last-line-end": b"%b\n%b" % (good, good),
        "blank-lines-between": b"\n%b\n\n%b\n\n" % (good, good),
    }.items():
        yield Kind(f"{model}-ndjson-{mistake}", model, "ndjson", content, 2, (), (), Fate.ACCEPTED)
    yield Kind(f"{model}-ndjson-nothing", model, "ndjson", b"", 0, (), (), Fate.COUNTED)


def _text(subject: Subject, name: str = "", text: str = "") -> bytes:
    """Somebody as a line, one value of it another."""
    [person] = subject.people(1)
    entries = [f'"{each}": {text if each == name else json.dumps(value)}' for each, value in person.items()]
    return ("{" + ", ".join(entries) + "}").encode(errors="surrogateescape")


def _renamed(subject: Subject, name: str, other: str | None) -> bytes:
    """The same with another key, or without it."""
    [person] = subject.people(1)
    entries = {other if key == name else key: value for key, value in person.items()}
    return json.dumps({key: value for key, value in entries.items() if key is not None}).encode()


def _line(subject: Subject, mistake: str, line: bytes, *mentions: str, fate: Fate = Fate.REJECTED) -> Kind:
    """A row between two good ones."""
    good = _text(subject)
    content = b"%b\n%b\n%b\n" % (good, line, good)
    return Kind(f"{subject.model}-ndjson-{mistake}", subject.model, "ndjson", content, 3, (2,), (2,), fate, mentions)
