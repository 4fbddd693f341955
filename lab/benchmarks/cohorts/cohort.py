"""A whole register at once: against single requests to the service, against ONNX Runtime alone, and its memory."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow.parquet as pq

from lab.benchmarks.cohorts.anatomy import anatomy
from lab.benchmarks.cohorts.cohort_requests import answers_agree, bodies, requests_a_second
from lab.benchmarks.cohorts.cohort_runs import Run
from lab.benchmarks.figures import Figure
from lab.benchmarks.registers.files import write
from lab.benchmarks.registers.register import batches
from lab.benchmarks.searches.rows_alone import calls_of, seconds_alone
from lab.benchmarks.workshop import Workshop
from tests.support.live_server import LiveServer, live_server

SEED = 7
WORKERS = 2
CONTEXT = {"hcv": ("sex", "age")}
INPUTS = ("csv", "ndjson")
# By how many people: bytes of memory, seconds, people a second.
Growth = dict[int, dict[str, float]]


def figures(workshop: Workshop) -> Iterator[Figure]:
    bench = _Bench(workshop, workshop.folder / "cohort")
    with live_server(workers=str(WORKERS), search_threads="1") as server:
        everybody = [bench.everybody(model, server) for model in workshop.sizes.cohort_models]
    refused = [bench.refused(model) for model in workshop.sizes.cohort_models]
    growth = bench.growth()
    yield _against_requests(everybody, growth, {"people_a_second_from": bench.inputs(), "ray": bench.ray()})
    yield _against_onnx("cohort.onnx", "people", everybody)
    yield _against_onnx("cohort.onnx_refused", "people who are refused", refused)
    yield _memory(growth)


@dataclass(frozen=True)
class Measured:
    """One model's register: the medians of its rounds, in seconds, and what is said of them in the details."""

    model: str
    people: int
    # The whole command, and the same without its start.
    whole: float
    run: float
    # ONNX Runtime alone with the same rows, on as many cores.
    alone: float
    details: dict[str, Any]
    # Single requests to the service, for as many people.
    requests: float = 0.0


class _Bench:
    def __init__(self, workshop: Workshop, folder: Path) -> None:
        self._sizes = workshop.sizes
        self._track = workshop.track
        self._folder = folder
        folder.mkdir()

    def everybody(self, model: str, server: LiveServer) -> Measured:
        count = self._sizes.cohort_people
        people, run = self._people(model, count), self._run(model, count)
        asked = bodies(pq.read_table(people), model, CONTEXT.get(model, ()), self._sizes.cohort_requests)
        answers_agree(run.answers(), asked[: self._sizes.cohort_compared], server, model)
        whole, bare, rates, shares = [], [], [], []
        for _ in self._track(range(self._sizes.cohort_rounds), f"cohort: {model}"):
            whole.append(run.whole())
            bare.append(run.without_start())
            rate, share = requests_a_second(server, model, asked)
            rates.append(rate)
            shares.append(share)
        details = {
            "seconds": median(whole),
            "people_a_second": count / median(whole),
            # What suits the other side: connections may be shared out unevenly among its processes.
            "requests_a_second": max(rates),
            "ratio": count / median(whole) / max(rates),
            "ratio_without_the_start": count / median(bare) / max(rates),
            "processor_share_of_who_asks": max(shares),
        }
        measured = self._against_onnx(model, people, median(bare))
        return Measured(
            model, count, median(whole), median(bare), measured["alone"], measured | details, count / max(rates)
        )

    def refused(self, model: str) -> Measured:
        count = self._sizes.cohort_people
        people, run = self._people(model, count, refused=True), self._run(model, count, refused=True)
        rounds = self._track(range(self._sizes.cohort_rounds), f"cohort: {model}, refused")
        bare = median([run.without_start() for _ in rounds])
        measured = self._against_onnx(model, people, bare)
        return Measured(model, count, 0.0, bare, measured["alone"], measured)

    def _against_onnx(self, model: str, people: Path, run: float) -> dict[str, Any]:
        """What ONNX Runtime alone takes for the same rows, and where the processor time of a run goes."""
        found = anatomy(model, people, CONTEXT.get(model, ()), self._folder / "anatomy")
        plans = calls_of(len(found.rows), found.rows_of_a_person)
        seconds = seconds_alone(model, found.rows, plans, WORKERS, 5 * self._sizes.cohort_rounds)
        batch = min((each for each in seconds if each != "a person"), key=seconds.__getitem__)
        return {
            "alone": seconds[batch],
            "rows": len(found.rows),
            "best_batch": batch,
            "run_seconds": run,
            "people_a_second_without_the_start": found.people / run,
            "of_onnx_alone": seconds[batch] / run,
            "alone_called_once_a_person_seconds": seconds["a person"],
            "of_onnx_called_once_a_person": seconds["a person"] / run,
            "microseconds_a_person": {
                part: spent / found.people * 1e6
                for part, spent in [*found.seconds.items(), ("onnx_runtime_alone", seconds[batch] * WORKERS)]
            },
        }

    def growth(self) -> Growth:
        """Ever more people of one model."""
        model = self._sizes.cohort_models[0]
        measured = {}
        for count in self._track(list(self._sizes.cohort_growth), "cohort: memory"):
            seconds, memory = self._run(model, count).watched()
            measured[count] = {"bytes": memory, "seconds": seconds, "people_a_second": count / seconds}
        return measured

    def inputs(self) -> dict[str, float]:
        """People a second from files of text, without the start."""
        model, count = self._sizes.cohort_models[0], self._sizes.cohort_people
        rounds = range(self._sizes.cohort_rounds)
        runs = {ending: self._run(model, count, ending=ending) for ending in INPUTS}
        return {ending: count / median([run.without_start() for _ in rounds]) for ending, run in runs.items()}

    def ray(self) -> dict[str, float]:
        """Ray's start is what the same command takes for one person."""
        model, count = self._sizes.cohort_models[0], self._sizes.cohort_ray
        if not count:
            return {}
        ray = ("--engine", "ray")
        start, whole = [], []
        for _ in self._track(range(self._sizes.cohort_rounds), "cohort: Ray"):
            start.append(self._run(model, 1).whole(*ray))
            whole.append(self._run(model, count).whole(*ray))
        began, took = median(start), median(whole)
        pace = {"people_a_second": count / took, "people_a_second_without_the_start": count / (took - began)}
        return {"people": count, "start_seconds": began, "seconds": took, **pace}

    def _run(self, model: str, count: int, *, refused: bool = False, ending: str = "parquet") -> Run:
        people = self._people(model, count, refused=refused, ending=ending)
        return Run(model, people, CONTEXT.get(model, ()), WORKERS, self._folder / "answers")

    def _people(self, model: str, count: int, *, refused: bool = False, ending: str = "parquet") -> Path:
        file = self._folder / f"{model}-{count}{'-refused' if refused else ''}.{ending}"
        if not file.exists():
            write(batches(model, count, SEED, refused=refused), file)
        return file


def _against_requests(measured: Sequence[Measured], growth: Growth, besides: Mapping[str, Any]) -> Figure:
    people = sum(each.people for each in measured)
    ours, theirs = sum(each.whole for each in measured), sum(each.requests for each in measured)
    title = f"cohort, {people:,} people of {len(measured)} models: against single requests"
    together = {
        "people_a_second": people / ours,
        "requests_a_second": people / theirs,
        "ratio_without_the_start": theirs / sum(each.run for each in measured),
    }
    one = measured[0]
    registers = {
        str(count): {**each, "ratio": each["people_a_second"] * one.requests / one.people}
        for count, each in growth.items()
    }
    models = {each.model: each.details for each in measured}
    details = {**together, "models": models, f"registers_of_{one.model}": registers, **besides}
    return Figure("cohort.requests", title, "at least", 5, theirs / ours, "times as many", rounded(details))


def _against_onnx(name: str, whom: str, measured: Sequence[Measured]) -> Figure:
    people = sum(each.people for each in measured)
    alone, run = sum(each.alone for each in measured), sum(each.run for each in measured)
    once = sum(each.details["alone_called_once_a_person_seconds"] for each in measured)
    title = f"cohort, {people:,} {whom}: of what ONNX Runtime alone could do"
    details = {
        "run_seconds": run,
        "alone_seconds": alone,
        "of_onnx_called_once_a_person": once / run,
        "models": {each.model: each.details for each in measured},
    }
    return Figure(name, title, "at least", 0.5, alone / run, "of it", rounded(details))


def _memory(growth: Growth) -> Figure:
    few, many = list(growth)[:2]
    title = f"cohort, memory with {many:,} people: against {few:,}"
    ratio = growth[many]["bytes"] / growth[few]["bytes"]
    details = {str(count): dict(measured) for count, measured in growth.items()}
    return Figure("cohort.memory", title, "at most", 1.15, ratio, "times as much", rounded(details))


def rounded(details: Any) -> Any:
    """Four digits of every number that is not whole."""
    if isinstance(details, dict):
        return {name: rounded(each) for name, each in details.items()}
    return float(f"{details:.4g}") if isinstance(details, float) else details
