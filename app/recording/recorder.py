"""What is taken down of an answer while it is sent, and handed to the writer when it has ended."""

import asyncio
import json
import secrets
import time
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app import __version__
from app.adapters.files.flaws import BrokenFiles, Flaw
from app.adapters.graphs.models import Model
from app.adapters.keys.key import Key
from app.adapters.locales.language import IN_ENGLISH, Language
from app.adapters.machine.optional_groups import how_to_install
from app.adapters.records.record import CUT, ERROR, Begun, NewRecord, Personal
from app.adapters.records.store import Store, StoreLost
from app.answering.answer import Answer
from app.answering.reasons import Reasons
from app.answering.service import Service
from app.asking.posing.question import Question
from app.asking.refusals import RecordsUnavailable
from app.core.budget import Limits
from app.recording.events import Events
from app.recording.lines import REASONS, Transcript
from app.recording.versions import Versions
from app.recording.writer import Job, Writer
from app.settings import Settings
from app.writing.forms import Form

if TYPE_CHECKING:
    from app.adapters.records.receipts import ReceiptKeys

SALT_BYTES = 32
# What a line holds besides the values of an instance, roughly.
LINE_BYTES = 1_000
# A store that takes longer to note that an answer has begun counts as lost.
BEGIN_SECONDS = 5.0


class Recorder:
    """Keeps records for one process."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store = store
        self.events = None if settings.records_events is None else _events(store, settings.records_events, settings)
        self.writer = Writer(store, settings.records_queue_mb * 2**20, settings.records_days)
        if self.events is not None:
            self.writer.tell = self.events.put
        self._settings = settings
        self.versions = Versions(settings.archive)
        self.receipts = None if settings.receipt_keys is None else _receipt_keys(settings.receipt_keys)

    @property
    def records_all(self) -> bool:
        return self._settings.record_all

    @property
    def is_required(self) -> bool:
        return self._settings.records_required

    def begin(self, request: str, subject: str | None, key: Key | None) -> "Recording":
        """A record of a request as it was sent; `RecordsUnavailable` if it must be kept and cannot be."""
        plans = self._settings.record_plans
        weight = (plans + 2) * (len(request) + LINE_BYTES)
        has_room = self.writer.reserve(weight)
        if self.is_required and (not has_room or self.writer.is_failing):
            if has_room:
                self.writer.release(weight)
            raise RecordsUnavailable
        return Recording(self, request, subject, key, weight if has_room else 0)

    def close(self) -> None:
        until = time.monotonic() + self._settings.grace_seconds
        self.writer.close(self._settings.grace_seconds)
        if self.events is not None:
            self.events.close(max(0.0, until - time.monotonic()))
        self.store.close()

    @property
    def plans(self) -> int:
        return self._settings.record_plans


def _check_installed(package: str, setting: str, group: str) -> None:
    if find_spec(package) is None:
        raise BrokenFiles([Flaw(Path(setting), "", f"needs one more package: {how_to_install(group)}")])


def _events(store: Store, url: str, settings: Settings) -> Events:
    _check_installed("httpx", "FLIPSET_RECORDS_EVENTS", "records-events")
    source = f"{(settings.public_url or '').rstrip('/')}/v1/records"
    return Events(store, url, source, settings.records_events_key)


def _receipt_keys(folder: Path) -> "ReceiptKeys":
    _check_installed("cryptography", "FLIPSET_RECEIPT_KEYS", "receipts")
    # Imported here: few need it.
    from app.adapters.records.receipts import ReceiptKeys  # noqa: PLC0415

    return ReceiptKeys(folder)


class Recording:
    """The record of one answer. Without room for it (`weight` 0) nothing is kept, and the answer says so."""

    def __init__(self, recorder: Recorder, request: str, subject: str | None, key: Key | None, weight: int) -> None:
        self._recorder = recorder
        self._request, self._subject, self._key = request, subject, key
        self._weight = weight
        self._at = time.time_ns() // 1_000_000
        self.id = secrets.token_hex(16) if weight else None
        self._answer: Answer | None = None
        self._service: Service | None = None
        self._language = IN_ENGLISH
        self._taken = Transcript(recorder.plans)
        # What came of looking for reasons, if they were asked for.
        self._outcome = ""
        # Whether what was taken down is what is sent: an answer may be begun anew before its first byte.
        self._is_settled = False
        self._is_sent = False
        self._job: Job | None = None

    def over(self, form: Form, answer: Answer, service: Service, language: Language = IN_ENGLISH) -> Form:
        """The form, with everything that goes through it taken down from the start."""
        self._answer, self._service, self._language = answer, service, language
        self._taken = Transcript(self._recorder.plans)
        return RecordedForm(form, self)

    def of_reasons(self, text: str, reasons: Reasons, service: Service, language: Language) -> str:
        """Take down an answer about reasons, which is one piece of JSON; as it is sent."""
        self._answer, self._service, self._language = reasons.answer, service, language
        self._outcome = reasons.outcome
        return self.take(REASONS, text)

    @property
    def headers(self) -> dict[str, str]:
        """What every form of an answer says; those that have no summary say it only here."""
        named = {} if self.id is None else {"Flipset-Record": self.id}
        return named if self._is_kept else {**named, "Flipset-Recorded": "false"}

    @property
    def _is_kept(self) -> bool:
        # Before the first byte a required record is waited for: without it, there is no answer.
        is_awaited = self._recorder.is_required and not self._is_sent
        return self.id is not None and (is_awaited or not self._recorder.writer.is_failing)

    def take(self, kind: str, text: str) -> str:
        """Take down a line; the line as it is sent."""
        self._taken.take(kind, text)
        if kind in ("start", REASONS):
            text = f'{text[:-1]},"record":{json.dumps(self.id)}}}'
        if kind in ("summary", REASONS):
            text = f'{text[:-1]},"recorded":{json.dumps(self._is_kept)}}}'
        if self._taken.last is not None and self._is_settled:
            self._hand_over()
        return text

    async def settle(self) -> None:
        """Before the first byte: what was taken down is what is sent. If records are required, wait for the store."""
        self._is_settled = True
        if self._taken.last is not None:
            self._hand_over()
        if self._recorder.is_required and self.id is not None and self._answer is not None:
            job = self._job
            if job is None:
                job = Job(Begun(self.id, self._at, self._answer.question.model.name), 0, is_awaited=True)
                self._recorder.writer.put(job)
            try:
                await asyncio.wait_for(asyncio.wrap_future(job.written), BEGIN_SECONDS)
            except (TimeoutError, StoreLost):
                raise RecordsUnavailable from None
        self._is_sent = True

    def close(self) -> None:
        """The answer is over; one that was cut off is recorded as such, and a refused one not at all."""
        if self._is_sent and self._answer is not None:
            self._hand_over()
        elif self._job is None:
            self._recorder.writer.release(self._weight)

    def _hand_over(self) -> None:
        if self._job is None and self.id is not None:
            # What has been sent already cannot be waited for.
            awaited = self._recorder.is_required and not self._is_sent
            self._job = Job(self._record(self.id), self._weight, awaited)
            self._recorder.writer.put(self._job)

    def _record(self, name: str) -> NewRecord:
        assert self._answer is not None
        assert self._service is not None
        taken, question = self._taken, self._answer.question
        kind, last = taken.last or (CUT, None)
        figures = self._answer.figures()
        outcome = {"summary": figures.outcome, REASONS: self._outcome, "error": ERROR}.get(kind, CUT)
        told: dict[str, Any] = {"sent": taken.count, "stopped_by": None if kind in (ERROR, CUT) else figures.stopped_by}
        if kind == REASONS:
            told["kind"] = REASONS
        personal = Personal(
            self._subject,
            secrets.token_hex(SALT_BYTES),
            self._request,
            taken.start or "null",
            tuple(taken.plans),
            last,
            taken.sha256,
            taken.sha256_of_plans(),
        )
        return NewRecord(
            name,
            self._at,
            None if self._key is None else self._key.id,
            question.model.name,
            outcome,
            {**facts_of(question), "answer": told},
            json.dumps(self._terms(self._answer, self._service)),
            personal,
        )

    def _terms(self, answer: Answer, service: Service) -> Mapping[str, Any]:
        terms = terms_of(answer.limits, service.settings.stability_plans, self._key)
        return terms if self._language is IN_ENGLISH else {**terms, "language": self._language.tag}


class RecordedForm:
    """A form whose lines are taken down."""

    def __init__(self, form: Form, recording: Recording) -> None:
        self.media_type = form.media_type
        self._frame = form.frame
        self._recording = recording

    def frame(self, kind: str, text: str) -> str:
        return self._frame(kind, self._recording.take(kind, text))


def facts_of(question: Question) -> dict[str, Any]:
    """What an answer rests on, by version and digest."""
    registry, robustness = question.prepared.registry, question.robustness
    ranges = None
    if registry is not None:
        ranges = {"name": registry.name, "version": registry.version, "sha256": registry.sha256}
    return {
        "model": identity(question.model),
        "others": [identity(model) for model in (() if robustness is None else robustness.models)],
        "normal_ranges": ranges,
        "service": {"name": "flipset", "version": __version__},
    }


def identity(model: Model) -> dict[str, str | None]:
    digests = {"sha256": model.sha256, "description_sha256": model.description_sha256}
    return {"name": model.name, "version": model.version, **digests}


def terms_of(limits: Limits, stability_plans: int, key: Key | None) -> Mapping[str, Any]:
    """What else an answer rests on: the limits as applied, and the rules of the key."""
    return {
        "limits": {
            "max_model_rows": limits.max_model_rows,
            "deadline_seconds": limits.deadline_seconds,
            "max_counterfactuals": limits.max_counterfactuals,
            "rows_by_size": limits.rows_by_size,
        },
        "stability_plans": stability_plans,
        "key": None if key is None else _rules_of(key),
    }


def _rules_of(key: Key) -> Mapping[str, Any]:
    rules = {name: each.model_dump(mode="json", exclude_unset=True) for name, each in key.rules.items()}
    return {"models": key.models, "rules": rules}
