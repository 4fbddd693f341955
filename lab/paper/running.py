"""The run: networks are trained and everyone is asked about, on all processors; what is done already is kept."""

import hashlib
import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np

from lab.paper.conditions import CONDITIONS, Condition
from lab.paper.journal import Journal
from lab.paper.measures.agreement import everyone, total
from lab.paper.methods import warm_up
from lab.paper.questions.asking import Asked, ask
from lab.paper.questions.datasets import DataSet, Recipe
from lab.paper.results import Agreement
from lab.paper.retraining import COMMITTEE, MODELS, train
from lab.paper.study import Study, network_folder

ROOT = Path(__file__).parents[2]
# What an answer depends on besides the data; how it is shown is no part of that.
SOURCES = ("app/core", "app/adapters", "lab/paper", "lab/training", "normal_ranges")
SHOWING = ROOT / "lab" / "paper" / "report"
PACKAGES = ("dice-ml", "numpy", "onnxruntime", "scikit-learn", "skl2onnx", "z3-solver")

# What is being done, how much of it is done, and of how much.
Track = Callable[[str, int, int], None]


@contextmanager
def workers() -> Iterator[Executor]:
    """A process for each processor. When the run is stopped, what was not begun is dropped."""
    # With one thread a process the same question gets the same answer, and nobody waits for a core.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    pool = ProcessPoolExecutor(
        os.cpu_count(), mp_context=get_context("spawn"), initializer=_leave_stopping_to_the_parent
    )
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _leave_stopping_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_the_parent, daemon=True).start()


def _end_with_the_parent() -> None:
    """A worker whose parent was killed would wait for work for ever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class Run:
    """One data set: prepared once in its folder, and asked about until everyone has been."""

    def __init__(self, work: Path, recipe: Recipe, data: Path | None) -> None:
        self.recipe = recipe
        # Another name for other data, settings or code: what is out of date is not taken up again.
        self.folder = work / f"{recipe.name}-{_digest(recipe, data)[:12]}"
        self.folder.mkdir(parents=True, exist_ok=True)
        self._data = data
        self.journal = Journal(self.folder / "answers.jsonl")

    @property
    def study(self) -> Study:
        return _study(self.folder, self.recipe)

    def prepare(self, pool: Executor, track: Track) -> None:
        """Read the data and train the networks, where that has not been done."""
        if not _data_file(self.folder).exists():
            track("reading", 0, 1)
            pool.submit(_read, self.folder, self.recipe, self._data).result()
        numbers = range(MODELS * COMMITTEE)
        missing = [number for number in numbers if not network_folder(self.folder, number).exists()]
        jobs = [pool.submit(_train, self.folder, self.recipe, number) for number in missing]
        _wait(jobs, "training", track)

    def ask(self, pool: Executor, track: Track) -> None:
        """Ask about everyone under every condition, and keep each answer as soon as it is there."""
        everything = [(condition, person) for person in self.study.people for condition in CONDITIONS]
        known = {(asked.condition, asked.person) for asked in self.journal}
        left = [(condition, person) for condition, person in everything if (condition.name, person) not in known]
        jobs = [pool.submit(_ask, self.folder, self.recipe, condition, person) for condition, person in left]
        track("asking", len(known), len(everything))
        for done, job in enumerate(as_completed(jobs), len(known) + 1):
            self.journal.write(job.result())
            track("asking", done, len(everything))

    def compare(self, pool: Executor, track: Track) -> Agreement:
        """Hold the published search against the definition, for all whom a network refuses."""
        file = self.folder / "agreement.json"
        if not file.exists():
            jobs = [pool.submit(_compare, self.folder, self.recipe, number) for number in range(MODELS)]
            _wait(jobs, "comparing", track)
            part = file.with_suffix(".part")
            part.write_text(json.dumps(asdict(total(job.result() for job in jobs))), encoding="utf-8")
            part.rename(file)
        return Agreement(**json.loads(file.read_text(encoding="utf-8")))


def _wait(jobs: list[Future[Any]], step: str, track: Track) -> None:
    track(step, 0, len(jobs))
    for done, job in enumerate(as_completed(jobs), 1):
        job.result()
        track(step, done, len(jobs))


def _digest(recipe: Recipe, data: Path | None) -> str:
    """Of the data, the settings, the code and the packages: where none has changed, old answers still hold."""
    versions = {name: version(name) for name in PACKAGES}
    digest = hashlib.sha256(repr((recipe.settings, recipe.most_people, recipe.most_compared, versions)).encode())
    sources = [file for folder in SOURCES for file in (ROOT / folder).rglob("*") if file.suffix in (".py", ".toml")]
    for file in sorted(sources):
        if SHOWING not in file.parents:
            digest.update(str(file.relative_to(ROOT)).encode() + file.read_bytes())
    if recipe.file and data is not None:
        digest.update((data / recipe.file).read_bytes())
    return digest.hexdigest()


def _data_file(folder: Path) -> Path:
    return folder / "data.npz"


def _read(folder: Path, recipe: Recipe, source: Path | None) -> None:
    data = recipe.read(source or Path(), recipe.settings)
    # Whole or not at all: the run may be stopped at any moment.
    part = folder / "data.part.npz"
    np.savez(part, rows=data.rows, labels=data.labels, trains=data.trains)
    part.rename(_data_file(folder))


def _load(folder: Path) -> DataSet:
    with np.load(_data_file(folder)) as stored:
        return DataSet(stored["rows"], stored["labels"], stored["trains"])


def _train(folder: Path, recipe: Recipe, number: int) -> None:
    final = network_folder(folder, number)
    part = final.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    train(part, recipe, _load(folder), number)
    part.rename(final)


@cache
def _study(folder: Path, recipe: Recipe) -> Study:
    """Each process loads the networks once, and what takes long to import, so that nobody's time is counted for it."""
    warm_up()
    return Study(folder, recipe, _load(folder))


def _ask(folder: Path, recipe: Recipe, condition: Condition, person: int) -> Asked:
    return ask(_study(folder, recipe), condition, person)


def _compare(folder: Path, recipe: Recipe, number: int) -> Agreement:
    return everyone(_study(folder, recipe), number)
