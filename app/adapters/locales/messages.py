"""All that Flipset itself says to people: in English, and the same by a file in another language."""

from collections.abc import Set as AbstractSet
from string import Formatter
from typing import Any

from pydantic import ValidationInfo, field_validator

from app.adapters.files.toml_files import Entry

# One form for each kind of number that a language tells apart, as CLDR names them; `other` is always there.
Plural = dict[str, str]
# Which names the plural forms of a message may leave out: a form may be of one number only.
COUNT = "count"


class Messages(Entry):
    """Templates: names in braces stand for what is filled in. The defaults are English."""

    # A list of things: between two, and before the last. Some words change what stands before them, by how they begin:
    # in Spanish "y" is "e" before an i.
    between: str = ", "
    last: str = " and "
    last_before: dict[str, str] = {}
    either: str = " or "

    # A plan. Each change begins in lower case: only the first one is capitalised.
    change: str = "change {feature} from {before} to {after}"
    increase: str = "raise {feature} from {before} to {after}"
    decrease: str = "lower {feature} from {before} to {after}"
    provide: str = "provide {feature}: {after} (now missing)"
    step: str = "{value} (step {step} of {steps})"
    consequence: str = "{feature} goes from {before} to {after}"
    known_then: str = "{feature} is {after}"
    then: str = "{changes}; then {consequences}"
    plan: str = "{changes}."
    no_change: str = "Change nothing."

    # Other values that somebody could have had.
    instead: str = "{feature} {after} instead of {before}"
    missing: str = "none"
    favourable_value: str = "a favourable value"
    unfavourable_value: str = "an unfavourable value"

    # Reasons.
    would_have_been: str = "With {values}, the decision would have been {label}."
    would_have_been_favourable: str = "With {values}, the decision would have come to a favourable value."
    reasons_found: str = (
        "Each reason is outside its range and in at least one minimal set that would turn the decision."
    )
    reasons_already_favourable: str = "The decision is favourable. There is nothing to give reasons for."
    reasons_none: str = (
        "The decision stays unfavourable even with every considered feature in its range. The reasons lie "
        "in what was not considered, or in values that are inside their ranges."
    )
    reasons_unknown: str = (
        "The search did not prove that it found every minimal set, so no reasons are stated. Raise limits.deadline_ms."
    )
    reasons_note: str = (
        "These are features that the model's decision rests on, not causes in the world. This is no legal "
        "determination: whether a notice is due, and what it must say, is for you to decide."
    )

    # The clinic: a RiskAssessment, and a card.
    as_measured: str = "With the values as measured."
    with_values: str = "With {values}."
    favourable_already: str = "The model's decision is favourable as it stands."
    sets: Plural = {
        "one": "One set of other values turns the model's decision.",
        "other": "{count} sets of other values turn the model's decision, each of them minimal.",
    }
    all_found: str = "All were found, and that is proved."
    maybe_others: str = "There may be others."
    no_set: str = "No values inside the normal ranges turn the model's decision. That is proved."
    no_set_known: str = "No values that turn the model's decision were found. There may be some."
    first_listed: str = "The first {count} are listed."
    no_cause: str = "This describes a model. It does not say that changing a value would change the person's health."
    person: str = "the person of the request"
    service: str = "{title}: what the model says, and which other values would turn its decision."
    card: str = "{title}: the model says {label}. {finding}"
    model_says: str = "The model says {label}."
    model_would_say: str = "With {values}, the model would say {label}."
    more: Plural = {"one": "{count} more.", "other": "{count} more."}
    open_page: str = "Open Flipset"

    @field_validator("*")
    @classmethod
    def _fills_in_the_same(cls, value: Any, info: ValidationInfo) -> Any:
        """A translation that leaves something out, or asks for what there is not, would be found by a patient."""
        default = cls.model_fields[info.field_name or ""].default
        if isinstance(value, str):
            _check_names(value, _names(default))
        elif isinstance(default, dict) and "other" in default:
            if "other" not in value:
                raise ValueError("needs the form `other`")
            for form in value.values():
                _check_names(form, _names(default["other"]), {COUNT})
        return value


def _names(template: str) -> set[str]:
    try:
        parts = [part for part in Formatter().parse(template) if part[1] is not None]
    except ValueError:
        raise ValueError("has a brace that is not closed, or not opened") from None
    if any(spec or conversion for _, _, spec, conversion in parts):
        raise ValueError("must hold names alone in its braces, without ! and :")
    names = [name for _, name, _, _ in parts if name is not None]
    if len(set(names)) < len(names):
        raise ValueError("fills in the same thing twice")
    return set(names)


def _check_names(template: str, wanted: set[str], optional: AbstractSet[str] = frozenset()) -> None:
    names = _names(template)
    if unknown := sorted(names - wanted):
        known = f"known: {', '.join(sorted(wanted))}" if wanted else "nothing is filled in here"
        raise ValueError(f"fills in {{{unknown[0]}}}; {known}")
    if lacking := sorted(wanted - names - optional):
        raise ValueError(f"must fill in {{{lacking[0]}}}")
