"""Kinds of people: what the next version of a model does to each."""

from enum import StrEnum

APPROVED = "already_favourable"


class Kind(StrEnum):
    """What the next version changes for a person.

    A way out is lost or gained only where one version found a way, and the other proved that there is none.
    """

    STILL_APPROVED = "still_approved"
    NEWLY_APPROVED = "newly_approved"
    NEWLY_REFUSED = "newly_refused"
    KEEPS_WAY_OUT = "keeps_way_out"
    LOSES_WAY_OUT = "loses_way_out"
    GAINS_WAY_OUT = "gains_way_out"
    NO_WAY_OUT = "no_way_out"
    UNKNOWN = "unknown"


# The kinds for whom the decision or the way out changes.
CHANGING = frozenset({Kind.NEWLY_APPROVED, Kind.NEWLY_REFUSED, Kind.LOSES_WAY_OUT, Kind.GAINS_WAY_OUT})

# Of people whom both versions refuse, by the outcomes of both.
OF_REFUSED = {
    ("found", "found"): Kind.KEEPS_WAY_OUT,
    ("found", "no_recourse"): Kind.LOSES_WAY_OUT,
    ("no_recourse", "found"): Kind.GAINS_WAY_OUT,
    ("no_recourse", "no_recourse"): Kind.NO_WAY_OUT,
}


def kind_of(old: str, new: str) -> Kind:
    """The kind of a person, by the outcomes of both versions."""
    if old == APPROVED:
        return Kind.STILL_APPROVED if new == APPROVED else Kind.NEWLY_REFUSED
    if new == APPROVED:
        return Kind.NEWLY_APPROVED
    return OF_REFUSED.get((old, new), Kind.UNKNOWN)
