"""Asking the same again: the answer must be the recorded one, byte for byte but for the times."""

import json
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from app.adapters.graphs.onnx import ModelFailed
from app.adapters.keys.key import Key
from app.adapters.keys.key_file import RulesEntry
from app.adapters.locales.files import ENGLISH
from app.adapters.locales.language import IN_ENGLISH, Language
from app.adapters.records.record import CUT, ERROR, Personal, Record
from app.adapters.records.sealing import flaws_of
from app.answering.answer import Answer
from app.answering.reasons import find_reasons
from app.answering.service import Service
from app.answering.under_way import Admitted
from app.asking.callers import ANYONE, Caller
from app.asking.parsing import read_body
from app.asking.posing.question import Purpose
from app.asking.refusals import ConflictingConstraints, InvalidRequest, ModelTooSlow, RecordErased, UnknownRegistry
from app.asking.schemas import CounterfactualsRequest
from app.core.budget import Limits
from app.core.facts import Moment, Working
from app.core.memory import Waiting
from app.core.turns import run_through
from app.recording.lines import REASONS, Transcript
from app.recording.versions import Versions, VersionsGone
from app.writing.forms import JsonLines
from app.writing.lines import Presenter
from app.writing.reasons import reasons_json

# An answer that ended for one of these is over: where it was cut off by time, only its beginning can be compared.
BY_ITSELF = (None, "max_counterfactuals", "max_model_rows")
MOST_DIFFERENCES = 20
# Parts of a plan that an answer gives only while time is left.
LATE = ("stability", "certified", "counterexample", "enough", "turns")
# What an answer cost, in the summary: it also depends on how fast the model is on this machine, as the times do.
EFFORT = frozenset(("model_rows", "model_calls", "solver_checks", "nodes"))
# What is wrong with the question, and would be tomorrow.
REFUSALS: dict[type[Exception], str] = {
    InvalidRequest: "the request is not valid any more",
    ConflictingConstraints: "its constraints contradict each other",
    UnknownRegistry: "there is no such registry",
    ModelFailed: "the model fails",
    ModelTooSlow: "the model is too slow",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """Where the new answer differs, and how; never a value."""

    where: str
    what: str


@dataclass(frozen=True, slots=True)
class Replay:
    """Whether the answer is the same; None if it could not be asked for again. `compared` is `answer` or `plans`."""

    same: bool | None
    differences: tuple[Difference, ...] = ()
    compared: str | None = None

    def json(self) -> dict[str, Any]:
        told = [{"where": each.where, "what": each.what} for each in self.differences]
        return {"same": self.same, "differences": told, "compared": self.compared}


def replay(record: Record, service: Service, versions: Versions, client: str = "") -> Replay:
    """Ask the recorded question again; `RecordErased` if it is gone, or what refuses any request now."""
    return run_through(replaying(record, service, versions, client))


def replaying(record: Record, service: Service, versions: Versions, client: str) -> Generator[Moment, None, Replay]:
    """The same in turns, as other searches take them."""
    if record.personal is None:
        raise RecordErased
    if flaws := list(flaws_of(record)):
        return Replay(None, tuple(Difference("record", flaw) for flaw in flaws))
    told = json.loads(record.sealed)["answer"]
    is_over = record.outcome not in (CUT, ERROR) and told["stopped_by"] in BY_ITSELF
    if not is_over and told.get("kind") == REASONS:
        return Replay(None, (Difference("answer", "ran out of time and stated no reasons to compare"),))
    try:
        most = None if is_over else told["sent"]
        taken = yield from _asked_again(record, record.personal, service, versions, client, most)
    except VersionsGone as gone:
        return Replay(None, (Difference("versions", str(gone)),))
    except tuple(REFUSALS) as refusal:
        # Once it was answered: that it no longer is, is a difference.
        why = next(words for kind, words in REFUSALS.items() if isinstance(refusal, kind))
        return Replay(same=False, differences=(Difference("answer", f"is refused now: {why}"),))
    return _compared(record.personal, taken, is_over)


def _asked_again(
    record: Record, held: Personal, service: Service, versions: Versions, client: str, most: int | None
) -> Generator[Moment, None, Transcript]:
    """The new answer, up to so many plans."""
    sealed, terms = json.loads(record.sealed), json.loads(record.terms)
    chosen = versions.find(sealed, service.in_use)
    body = read_body(held.request.encode(), CounterfactualsRequest)
    admitted = Admitted(time.perf_counter(), client, _caller(terms["key"], record.model))
    language = service.catalog.languages.closest(terms.get("language", ENGLISH)) or IN_ENGLISH
    limits = Limits(**terms["limits"])
    with service.admit(admitted):
        if sealed["answer"].get("kind") != REASONS:
            purpose = Purpose(terms["stability_plans"])
            answer = yield from service.posing_again(body, chosen, admitted, limits, purpose)
            return (yield from _taken(answer, language, held.plans, most))
        taken, about_reasons = Transcript(0), body.model_copy(update={"least": False})
        answer = yield from service.posing_again(about_reasons, chosen, admitted, limits, Purpose(rules_set_aside=True))
        taken.take(REASONS, reasons_json((yield from find_reasons(answer)), language))
        return taken


def _taken(
    answer: Answer, language: Language, plans: Sequence[str], most: int | None
) -> Generator[Moment, None, Transcript]:
    """The lines of the new answer, up to so many plans."""
    taken = Transcript(len(plans))
    form = _TakingForm(taken, () if most is None else plans)
    present = Presenter(answer.question, form, lambda error: {"title": type(error).__name__}, language).text
    for event in answer.events():
        present(event)
        if most is not None and taken.count >= most:
            break
        yield Waiting() if answer.is_waiting else Working()
    return taken


class _TakingForm(JsonLines):
    """Takes lines down. `hurried` are the plans of an answer that ran out of time."""

    def __init__(self, taken: Transcript, hurried: Sequence[str]) -> None:
        super().__init__()
        self._taken, self._hurried = taken, hurried

    def frame(self, kind: str, text: str) -> str:
        place = self._taken.count
        if kind == "counterfactual" and place < len(self._hurried):
            old = self._hurried[place]
            text = old if _agrees(json.loads(old), json.loads(text)) else text
        self._taken.take(kind, text)
        return ""


def _agrees(old: Any, new: Any, is_late: bool = False) -> bool:
    """Whether they are the same but for what there was no time to tell then."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(_agrees(old[key], new[key], key in LATE) for key in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_agrees, old, new))
    return bool(old == new) or (is_late and old is None)


def _compared(held: Personal, taken: Transcript, is_over: bool) -> Replay:
    compared = "answer" if is_over else "plans"
    old, new = held.plans_sha256, taken.sha256_of_plans()
    if is_over:
        old, new = held.answer_sha256, taken.sha256
    if old == new:
        return Replay(same=True, compared=compared)
    differing = (each for each in _differences(held, taken, is_over) if not _is_effort(each.where))
    found = tuple(islice(differing, MOST_DIFFERENCES))
    if not found and held.plans_sha256 == taken.sha256_of_plans():
        return Replay(same=True, compared=compared)
    behind = Difference("plans", f"one of those behind the first {len(held.plans)} differs, or their number")
    return Replay(same=False, differences=found or (behind,), compared=compared)


def _differences(held: Personal, taken: Transcript, is_over: bool) -> Iterator[Difference]:
    yield from _between("start", json.loads(held.start), json.loads(taken.start or "null"))
    for rank, (old, new) in enumerate(zip(held.plans, taken.plans, strict=False), start=1):
        yield from _between(f"plans[{rank}]", json.loads(old), json.loads(new))
    if len(taken.plans) < len(held.plans):
        yield Difference("plans", f"there are only {len(taken.plans)}")
    if is_over and held.summary is not None:
        kind, last = taken.last or ("", "{}")
        if kind in ("summary", REASONS):
            yield from _between(kind, json.loads(held.summary), json.loads(last))
        else:
            yield Difference("summary", "is missing: the search broke down")


def _is_effort(where: str) -> bool:
    """Whether this place, in the last line, only counts what the answer cost."""
    line, _, rest = where.partition(".")
    return line in ("summary", REASONS) and rest.rpartition(".")[2] in EFFORT


def _between(where: str, old: Any, new: Any) -> Iterator[Difference]:
    if isinstance(old, dict) and isinstance(new, dict):
        yield from (Difference(f"{where}.{key}", "is missing") for key in old.keys() - new.keys())
        yield from (Difference(f"{where}.{key}", "is new") for key in new.keys() - old.keys())
        for key in old.keys() & new.keys():
            yield from _between(f"{where}.{key}", old[key], new[key])
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, pair in enumerate(zip(old, new, strict=True)):
            yield from _between(f"{where}[{index}]", *pair)
    elif old != new:
        yield Difference(where, "differs")


def _caller(key: dict[str, Any] | None, model: str) -> Caller:
    """Who asked, with the rules of then."""
    if key is None:
        return ANYONE
    models = None if key["models"] is None else tuple(key["models"])
    rules = RulesEntry.model_validate({"rules": key["rules"]}).rules
    return Caller.of(Key("", "", models, None, datetime.now(UTC), rules=rules), model)
