"""Many clients of a server that keeps records, and what they were told, while something is killed."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from threading import Event

import httpx

from app.adapters.catalog import load_catalog
from app.adapters.records.opening import store_at
from app.adapters.records.record import CUT, ERROR, Record
from app.adapters.records.sealing import flaws_of_chain
from app.answering.service import Service
from app.recording.replaying import Replay, replay
from app.recording.versions import Versions
from app.settings import Settings
from tests.live.asking import PATH
from tests.support.live_server import LiveServer

CLIENTS = 6


@dataclass
class Storm:
    """What clients were told: by the id of the record, the subject that it is of, and whether it is `recorded`."""

    answered: dict[str, tuple[str, bool]] = field(default_factory=dict)
    refused: int = 0
    cut: int = 0
    unexpected: list[str] = field(default_factory=list)


@contextmanager
def storm(server: LiveServer, seed: int = 0) -> Iterator[Storm]:
    """While this lasts, clients ask one question after the other."""
    told, over, numbers = Storm(), Event(), count()

    def ask_on(who: int) -> None:
        rng = Random(f"{seed} {who}")  # noqa: S311  # nothing random here is a secret
        with server.client() as client:
            while not over.is_set():
                ask(client, rng)

    def ask(client: httpx.Client, rng: Random) -> None:
        subject = f"p-{next(numbers)}"
        instance = {name: round(rng.uniform(-2, 2), 3) for name in "ABCD"}
        body = {"instance": instance, "record": {"subject": subject}}
        try:
            answer = client.post(PATH, json=body)
        except httpx.TransportError:
            # What is killed takes its connections along.
            told.cut += 1
            return
        if answer.status_code == 503:
            told.refused += 1
        elif answer.status_code == 200:
            last = json.loads(answer.text.splitlines()[-1])
            told.answered[answer.headers["flipset-record"]] = (subject, last["recorded"])
        else:
            told.unexpected.append(answer.text)

    with ThreadPoolExecutor(CLIENTS) as clients:
        asking = [clients.submit(ask_on, who) for who in range(CLIENTS)]
        try:
            yield told
        finally:
            over.set()
    for each in asking:
        each.result()
    assert not told.unexpected


def missing(told: Storm, address: str) -> set[str]:
    """The answers whose record is not in the store, or not of the one who was answered."""
    with closing(store_at(address)) as store:
        kept = {record.id: record.personal and record.personal.subject for record in store.all()}
    return {name for name, (subject, _) in list(told.answered.items()) if kept.get(name) != subject}


def compared_of(record: Record) -> str:
    """Of an answer that waited past its deadline, for a disk that was slow, only the plans can be compared."""
    is_whole = record.outcome not in (CUT, ERROR) and json.loads(record.sealed)["answer"]["stopped_by"] is None
    return "answer" if is_whole else "plans"


def check_whole(address: str, models: Path, ranges: Path) -> int:
    """No record is half written, the chain is whole, and all answers are the same again; how many there are."""
    settings = Settings(models_dir=models, normal_ranges_dir=ranges)
    with (
        closing(store_at(address)) as store,
        closing(Service(settings, load_catalog(settings.models_dir, settings.normal_ranges_dir))) as service,
    ):
        records = list(store.all())
        assert list(flaws_of_chain(records, store.chain())) == []
        for record in records:
            said = replay(record, service, Versions(None))
            assert said == Replay(same=True, compared=compared_of(record)), (record.outcome, record.sealed)
        with store.reading() as session:
            assert session.execute("SELECT COUNT(*) FROM personal") == [(len(records),)]
    return len(records)
