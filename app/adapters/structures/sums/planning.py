"""The forms that a search bounds: as few as there are directions among the sums that a link takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.adapters.structures.linking import Taken
from app.adapters.structures.values import Places
from app.core.through.links import Link
from app.core.through.view import Numbers

# Two directions are the same if they differ by less than this share.
ALIKE = 1e-12


@dataclass(frozen=True, slots=True)
class Form:
    """How the elements of a sum that the link takes follow from the forms: a place, times a factor, plus an offset.

    `bases` has, for each element, the one that is subtracted from it; None where nothing is.
    """

    places: Places
    factors: Numbers
    offsets: Numbers
    bases: Places | None


@dataclass(frozen=True, slots=True)
class Plan:
    """The forms as weights of the addends' columns, by name; how the link reads them; and which outputs rise."""

    weights: Mapping[str, Numbers]
    taken: tuple[Form, ...]
    rising: tuple[bool, ...] | None

    @property
    def count(self) -> int:
        return int(next(iter(self.weights.values())).shape[1])


def planned(taken: Sequence[Taken], favourable: int, link: Link) -> Plan:
    """The forms of these sums. Where only differences matter, they are differences to the favourable class."""
    names = sorted({name for each in taken for name in each.sum.terms})
    rows = {name: len(each.sum.terms[name].weights) for each in taken for name in each.sum.terms}
    found: list[Numbers] = []
    read = []
    for each in taken:
        bases = None if each.groups is None else each.groups[:, favourable % each.groups.shape[1]]
        weights = np.vstack(
            [
                each.sum.terms[name].weights if name in each.sum.terms else np.zeros((rows[name], len(each.sum.bias)))
                for name in names
            ]
        )
        offsets = each.sum.bias
        if bases is not None:
            weights, offsets = weights - weights[:, bases], offsets - offsets[bases]
        read.append(_read(found, weights, offsets, bases))
    forms = np.stack(found, axis=1) if found else np.zeros((sum(rows.values()), 1))
    ends = np.cumsum([rows[name] for name in names])[:-1]
    return Plan(dict(zip(names, np.split(forms, ends), strict=True)), tuple(read), _rising(read, forms.shape[1], link))


def _read(found: list[Numbers], weights: Numbers, offsets: Numbers, bases: Places | None) -> Form:
    """How these columns follow from the forms found so far; what does not becomes another form."""
    places, factors = np.zeros(len(offsets), dtype=np.intp), np.zeros(len(offsets))
    for element in range(len(offsets)):
        direction = weights[:, element]
        if not direction.any():
            continue
        places[element], factors[element] = _place(found, direction)
    return Form(places, factors, offsets, bases)


def _place(found: list[Numbers], direction: Numbers) -> tuple[int, float]:
    at = int(np.abs(direction).argmax())
    for place, form in enumerate(found):
        factor = direction[at] / form[at] if form[at] else 0.0
        if (np.abs(direction - factor * form) <= ALIKE * np.abs(direction)).all():
            return place, float(factor)
    found.append(direction)
    return len(found) - 1, 1.0


def _rising(read: Sequence[Form], forms: int, link: Link) -> tuple[bool, ...] | None:
    if forms != 1:
        return None
    signs = link.signs([np.sign(form.factors) for form in read])
    return None if np.isnan(signs).any() else tuple((signs >= 0).tolist())
