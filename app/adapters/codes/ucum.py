"""Units in UCUM, as far as laboratories use them, and exact conversion between those of one dimension.

A table of our own, in fractions: docs/decisions/0025-clinic-and-lender.md. Units that count an assay's own effect, such
as [IU], convert only to themselves. So does eq: 5 meq/L are 5 mmol/L of sodium, and 2.5 mmol/L of calcium.
"""

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

SYSTEM = "http://unitsofmeasure.org"
LONGEST = 60
_LARGEST_EXPONENT = 30

_PREFIXES = {
    "T": 12, "G": 9, "M": 6, "k": 3, "h": 2, "da": 1, "d": -1, "c": -2, "m": -3, "u": -6, "n": -9, "p": -12, "f": -15,
}  # fmt: skip
Dimension = tuple[tuple[str, int], ...]


class UnknownUnit(Exception):
    """Not a unit of UCUM, or none of those that are known here."""


class OtherDimension(Exception):
    """The two units measure different things."""


class Unit(NamedTuple):
    """How many of the base units it is, and of which: grams, metres, seconds, moles, kelvins, and arbitrary ones."""

    factor: Fraction
    dimension: Dimension


def _atoms() -> dict[str, tuple[Unit, bool]]:
    """Each with whether it takes prefixes."""
    minute, litre, pascal = Fraction(60), Fraction(1, 1000), Fraction(1000)
    litres, pressure, activity = {"m": 3}, {"g": 1, "m": -1, "s": -2}, {"mol": 1, "s": -1}
    metric: dict[str, tuple[Fraction | int, Mapping[str, int]]] = {
        "g": (1, {"g": 1}), "m": (1, {"m": 1}), "s": (1, {"s": 1}), "mol": (1, {"mol": 1}), "eq": (1, {"eq": 1}),
        "K": (1, {"K": 1}), "L": (litre, litres), "l": (litre, litres), "Pa": (pascal, pressure),
        "U": (Fraction(1, 60_000_000), activity), "kat": (1, activity),
        "[IU]": (1, {"[IU]": 1}), "[iU]": (1, {"[IU]": 1}), "[arb'U]": (1, {"[arb'U]": 1}), "osm": (1, {"osm": 1}),
        "m[Hg]": (133_322_000, pressure),
    }  # fmt: skip
    others: dict[str, tuple[Fraction | int, Mapping[str, int]]] = {
        "1": (1, {}), "%": (Fraction(1, 100), {}), "10*": (10, {}), "10^": (10, {}), "[ppth]": (Fraction(1, 1000), {}),
        "min": (minute, {"s": 1}), "h": (60 * minute, {"s": 1}), "d": (1440 * minute, {"s": 1}),
        "wk": (7 * 1440 * minute, {"s": 1}), "a": (Fraction(36_525, 100) * 1440 * minute, {"s": 1}),
        "mo": (Fraction(36_525, 1200) * 1440 * minute, {"s": 1}), "Cel": (1, {"Cel": 1}),
        "[lb_av]": (Fraction(45_359_237, 10**5), {"g": 1}), "[oz_av]": (Fraction(45_359_237, 16 * 10**5), {"g": 1}),
        "[in_i]": (Fraction(254, 10_000), {"m": 1}), "[ft_i]": (Fraction(3048, 10_000), {"m": 1}),
    }  # fmt: skip
    table = [(metric, True), (others, False)]
    return {
        name: (Unit(Fraction(factor), tuple(sorted(of.items()))), prefixed)
        for units, prefixed in table
        for name, (factor, of) in units.items()
    }


_ATOMS = _atoms()
_PIECE = re.compile(r"(?P<name>10[*^]|[A-Za-z%]*(?:\[[^\[\]{}]+\])?)(?P<power>[+-]?\d+)?")
_NOTE_ALONE = re.compile(r"(^|[./])\{[^{}]*\}")
_NOTE = re.compile(r"\{[^{}]*\}")


@lru_cache(maxsize=512)
def unit_of(text: str) -> Unit:
    """What a text in UCUM means; `UnknownUnit` if nothing that is known here."""
    if not 0 < len(text) <= LONGEST:
        raise UnknownUnit(text)
    factor, dimension, sign = Fraction(1), dict[str, int](), 1
    # An annotation means nothing; alone, it stands for 1.
    plain = _NOTE.sub("", _NOTE_ALONE.sub(r"\g<1>1", f"1{text}" if text.startswith("/") else text))
    for piece in re.split(r"([./])", plain):
        if piece in (".", "/"):
            sign = 1 if piece == "." else -1
            continue
        unit, power = _component(piece)
        factor *= unit.factor ** (sign * power)
        for base, exponent in unit.dimension:
            dimension[base] = dimension.get(base, 0) + sign * power * exponent
    return Unit(factor, tuple(sorted((base, power) for base, power in dimension.items() if power)))


def is_known(text: str) -> bool:
    """Whether it can be converted, if only to itself."""
    try:
        unit_of(text)
    except UnknownUnit:
        return False
    return True


def _component(text: str) -> tuple[Unit, int]:
    if text.isdecimal() and len(text) <= 9 and int(text):
        return Unit(Fraction(int(text)), ()), 1
    found = _PIECE.fullmatch(text)
    if found is None or not text:
        raise UnknownUnit(text)
    name, power = found["name"], int(found["power"] or 1)
    if abs(power) > _LARGEST_EXPONENT:
        raise UnknownUnit(text)
    return _atom(name), power


def _atom(name: str) -> Unit:
    if name in _ATOMS:
        return _ATOMS[name][0]
    for prefix, exponent in _PREFIXES.items():
        rest = name.removeprefix(prefix)
        if rest != name and rest in _ATOMS and _ATOMS[rest][1]:
            unit = _ATOMS[rest][0]
            return Unit(unit.factor * Fraction(10) ** exponent, unit.dimension)
    raise UnknownUnit(name)


def factor_between(sent: str, wanted: str, molar_mass: Fraction | None = None) -> Fraction:
    """By what a number in the one unit is multiplied in the other; `UnknownUnit` or `OtherDimension`.

    Between mass and amount of substance only with a molar mass, in grams a mole.
    """
    here, there = unit_of(sent), unit_of(wanted)
    ratio = here.factor / there.factor
    if here.dimension == there.dimension:
        return ratio
    if molar_mass is not None and _exchanged(here.dimension, "g", "mol") == there.dimension:
        return ratio / molar_mass
    if molar_mass is not None and _exchanged(here.dimension, "mol", "g") == there.dimension:
        return ratio * molar_mass
    raise OtherDimension


def _exchanged(dimension: Dimension, given: str, taken: str) -> Dimension | None:
    """The same dimension with one base for another, where it holds the one once."""
    powers = dict(dimension)
    if powers.pop(given, 0) != 1 or taken in powers:
        return None
    return tuple(sorted({**powers, taken: 1}.items()))
