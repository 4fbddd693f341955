"""Bad rows of CSV: fields that are none of a column's values, and lines that are no rows."""

from collections.abc import Iterator, Mapping

from tests.cohorts.reading.kinds import PERSON, SUBJECTS, Fate, Kind, Subject

# As they stand in the file. An empty field is a value that is missing; all of these are texts.
NO_NUMBERS: Mapping[str, str] = {
    "word": "high",
    "with-unit": "38.5 g/L",
    "percent": "38.5%",
    "currency": "$38",
    "decimal-comma": '"38,5"',
    "thousands-by-space": "1 000",
    "thousands-by-underscore": "1_000",
    "thousands-by-apostrophe": "1'000",
    "hexadecimal": "0x26",
    "other-digits": "٣٨",
    "wide-digits": "３８",  # noqa: RUF001  # digits that Python takes for a number
    "half": "½",
    "letter-o": "3O",
    "below-a-limit": "<5",
    "above-a-limit": ">100",
    "interval": "30-40",
    "sign-alone": "-",
    "two-signs": "--5",
    "point-alone": ".",
    "two-points": "1.2.3",
    "exponent-alone": "e5",
    "exponent-cut": "1e",
    "nan-in-small-letters": "nan",
    "NaN": "NaN",
    "inf": "inf",
    "Infinity": "Infinity",
    "minus-infinity": "-Infinity",
    "infinity-sign": "∞",
    "NA": "NA",
    "not-applicable": "N/A",
    "error-of-a-sheet": "#DIV/0!",
    "formula-of-a-sheet": "=19+19",
    "null": "null",
    "None": "None",
    "question-mark": "?",
    "true": "true",
    "False": "False",
    "list": '"[38.5]"',
    "object": '"{""value"": 38.5}"',
    "single-quotes": "'38.5'",
    "quotes-in-quotes": '"""38.5"""',
    "behind-the-quotes": '"38"x',
    "date": "2024-01-31",
    "time": "12:30",
    "nul": "3\x008",
    "byte-order-mark": "\ufeff38.5",
    "no-width-space": "38\u200b.5",
    "emoji": "🩸",
    "very-long": "x" * 20_000,
}
NOT_FINITE = {"beyond-64-bits": "1e400", "minus-beyond-64-bits": "-1e400", "long-number": "9" * 400}
TOO_LARGE = {"beyond-32-bits": "1e39", "minus-beyond-32-bits": "-3.5e38", "all-64-bits": "1.7e308"}
NUMBERS = {"spaces-around": " 38 ", "quoted": '"38"', "plus": "+38", "exponent": "3.8e1", "leading-noughts": "0038"}
FRACTIONS = {"fraction": "2.5", "small-fraction": "1e-3", "nearly-whole": "2.0000001"}
NOTHING = {"empty": "", "spaces": "   ", "empty-quotes": '""'}
NO_CATEGORIES = {
    "unknown": "lends",
    "upper-case": "RENTS",
    "capital": "Rents",
    "inner-space": "ren ts",
    "part": "rent",
    "code": "0",
    "number": "1.5",
    "true": "true",
    "NaN": "nan",
    "null": "null",
    "two": "rents|owns",
    "look-alike": "rеnts",  # noqa: RUF001  # a Cyrillic letter
    "nul": "rents\x00",
    "byte-order-mark": "\ufeffrents",
    "very-long": "rents" * 5_000,
}
NO_AGES = {
    "word": "old",
    "with-unit": "45 years",
    "NaN": "nan",
    "infinity": "inf",
    "true": "true",
    "interval": "40-49",
    "NA": "NA",
    "beyond-64-bits": "1e400",
    "decimal-comma": '"45,5"',
    "list": '"[45]"',
}
NOT_UTF8 = {
    "latin-1": b"3\xe9",
    "lone-byte": b"\xff38",
    "cut-character": b"38\xe2\x82",
    "surrogate": b"38\xed\xa0\x80",
    "overlong": b"38\xc0\xaf",
}
OPEN_QUOTES = {"opened": '"38.5', "three": '"38"".5'}
# Where a field has begun without one, a quote is a part of it: a name may hold one, a number may not.
STRAY_QUOTES = {"in-the-middle": '38"5', "at-the-end": '38.5"'}


def bad_csv() -> Iterator[Kind]:
    for subject in SUBJECTS:
        yield from _values(subject)
        yield from _context(subject)
        yield from _lines(subject)
        yield from _headings(subject)
        yield from _files(subject)


def _values(subject: Subject) -> Iterator[Kind]:
    for name in (*subject.numbers, *subject.wholes):
        yield from _each(subject, name, NO_NUMBERS, "number")
        yield from _each(subject, name, NOT_FINITE, "finite")
        yield from _each(subject, name, TOO_LARGE, "too large")
        yield from _each(subject, name, NUMBERS, fate=Fate.ACCEPTED)
    for name in subject.wholes:
        yield from _each(subject, name, FRACTIONS, "whole")
        yield from _each(subject, name, {**NOTHING, "missing-code": "-9"}, fate=Fate.ACCEPTED)
    for name in (*subject.numbers, *subject.categories):
        yield from _each(subject, name, NOTHING, "missing")
    for name in subject.categories:
        yield from _each(subject, name, NO_CATEGORIES, "one of")
        yield from _each(subject, name, {"quoted": '"owns"', "other": "other"}, fate=Fate.ACCEPTED)
    for name in subject.columns:
        for mistake, field in NOT_UTF8.items():
            yield _line(subject, f"{name}-{mistake}", _fields(subject, name, field), "UTF-8")
        for mistake, text in OPEN_QUOTES.items():
            yield _line(subject, f"{name}-quote-{mistake}", _fields(subject, name, text.encode()), "quote")
        for mistake, text in STRAY_QUOTES.items():
            fields = _fields(subject, name, text.encode())
            fate = Fate.REJECTED if name in subject.numbers else Fate.COUNTED
            yield _line(
                subject, f"{name}-quote-{mistake}", fields, *([name] if name in subject.numbers else []), fate=fate
            )


def _each(
    subject: Subject, name: str, mistakes: Mapping[str, str], *mentions: str, fate: Fate = Fate.REJECTED
) -> Iterator[Kind]:
    said = (name, *mentions) if fate is Fate.REJECTED else ()
    for mistake, text in mistakes.items():
        yield _line(subject, f"{name}-{mistake}", _fields(subject, name, text.encode()), *said, fate=fate)


def _context(subject: Subject) -> Iterator[Kind]:
    if "age" in subject.context:
        yield from _each(subject, "age", NO_AGES)
        yield from _each(subject, "age", {**NOTHING, "negative": "-1", "fraction": "45.5"}, fate=Fate.ACCEPTED)
        yield from _each(subject, "sex", {**NOTHING, "unknown": "x", "number": "1"}, fate=Fate.ACCEPTED)
        yield from _each(subject, "sex", {"beyond-64-bits": "1e400"})


def _lines(subject: Subject) -> Iterator[Kind]:
    good = _fields(subject)
    for count in range(1, len(good)):
        yield _line(subject, f"only-{count}-fields", good[:count], "fields")
    for count in (1, 2, 100):
        yield _line(subject, f"{count}-fields-too-many", [*good, *[b"38"] * count], "fields")
    yield _line(subject, "empty-fields", [b""] * len(good), subject.numbers[0], "missing")
    yield _line(subject, "heading-again", [name.encode() for name in subject.columns], subject.numbers[0], "number")
    yield _line(subject, "other-delimiter", [b";".join(good)], "fields")
    yield _line(subject, "all-in-one-quote", [b'"' + b",".join(good) + b'"'], "fields")
    yield _line(subject, "json", [b'{"a":1}'], "fields")
    yield _line(subject, "person-empty", _fields(subject, PERSON, b""), fate=Fate.ACCEPTED)
    yield _line(subject, "person-with-nul", _fields(subject, PERSON, b"a\x00b"), fate=Fate.COUNTED)


def _headings(subject: Subject) -> Iterator[Kind]:
    """What is wrong with a column is wrong with every row."""
    for place, name in enumerate(subject.columns):
        if name not in subject.features:
            continue
        others = [each.encode() for each in subject.columns]
        rows = [_fields(subject)] * 2
        without = [[*row[:place], *row[place + 1 :]] for row in (others, *rows)]
        yield _whole(subject, f"{name}-column-absent", without, name, "missing")
        for mistake, heading in {"case": name.swapcase(), "empty": "", "not-utf8": "\udcff"}.items():
            named = [*others[:place], heading.encode(errors="surrogateescape"), *others[place + 1 :]]
            yield _whole(subject, f"{name}-heading-{mistake}", [named, *rows], name, "missing")
        twice = [[*row, row[place]] for row in (others, *rows)]
        yield _whole(subject, f"{name}-column-twice", twice, name)
    for name in subject.context:
        place = subject.columns.index(name)
        lines = ([each.encode() for each in subject.columns], _fields(subject), _fields(subject))
        without = [[*row[:place], *row[place + 1 :]] for row in lines]
        yield _whole(subject, f"{name}-column-absent", without, fate=Fate.ACCEPTED)


def _files(subject: Subject) -> Iterator[Kind]:
    lines = [[each.encode() for each in subject.columns], *[_fields(subject)] * 2]
    file = _joined(lines)
    for form, content in {
        "line-ends-of-windows": file.replace(b"\n", b"\r\n"),
        "byte-order-mark-at-the-start": b"\xef\xbb\xbf" + file,
        "semicolons": file.replace(b",", b";"),
        "tabs": file.replace(b",", b"\t"),
        "no-last-line-end": file.rstrip(b"\n"),
        "blank-lines-between": file.replace(b"\n", b"\n\n"),
        "all-quoted": b"\n".join(b",".join(b'"%b"' % field for field in line) for line in lines),
    }.items():
        yield Kind(f"{subject.model}-csv-{form}", subject.model, "csv", content, 2, (), (), Fate.ACCEPTED)
    last = len(lines[0]) - 1
    for left in range(1, last):
        # Cut inside the last line, behind that many fields.
        cut = _joined(lines[:2]) + b",".join(lines[2][:left]) + b","
        yield Kind(f"{subject.model}-csv-cut-{left}", subject.model, "csv", cut, 2, (2,), (3,), mentions=("fields",))
    for name, content, rows in (("nothing", b"", None), ("heading-alone", _joined(lines[:1]), 0)):
        yield Kind(f"{subject.model}-csv-{name}", subject.model, "csv", content, rows, (), (), Fate.COUNTED)


def _fields(subject: Subject, name: str = "", field: bytes = b"") -> list[bytes]:
    """The fields of somebody, one of them another."""
    [person] = subject.people(1)
    return [field if each == name else str(value).encode() for each, value in person.items()]


def _line(subject: Subject, mistake: str, fields: list[bytes], *mentions: str, fate: Fate = Fate.REJECTED) -> Kind:
    """A row between two good ones."""
    good = _fields(subject)
    content = _joined([[each.encode() for each in subject.columns], good, fields, good])
    return Kind(f"{subject.model}-csv-{mistake}", subject.model, "csv", content, 3, (2,), (3,), fate, mentions)


def _whole(
    subject: Subject, mistake: str, lines: list[list[bytes]], *mentions: str, fate: Fate = Fate.REJECTED
) -> Kind:
    return Kind(
        f"{subject.model}-csv-{mistake}", subject.model, "csv", _joined(lines), 2, (1, 2), (2, 3), fate, mentions
    )


def _joined(lines: list[list[bytes]]) -> bytes:
    return b"".join(b",".join(line) + b"\n" for line in lines)
