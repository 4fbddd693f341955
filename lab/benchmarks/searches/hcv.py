"""The hepatitis model and its people: the search, and the whole answer, against the published search."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from time import perf_counter

from lab.benchmarks.figures import Figure, agreed, milliseconds
from lab.benchmarks.people import people
from lab.benchmarks.requests.asking import Answered, request
from lab.benchmarks.workshop import Workshop
from lab.paper.every_subset import EverySubset

MODEL = "hcv"
REGISTRY = "hcv-paper-tight"


@dataclass(frozen=True)
class Patient:
    """Someone for whom there is a way out."""

    body: bytes
    answered: Answered


@dataclass(frozen=True)
class Timed:
    """One patient's medians, in seconds."""

    search: float
    total: float
    model: float
    published: float


def figures(workshop: Workshop) -> Iterator[Figure]:
    patients = list(workshop.track(_patients(workshop), "hcv: people with a way out"))
    wrong, monotone = _checked(workshop, patients)
    timed = [_timed(workshop, patient) for patient in workshop.track(patients, "hcv: both searches")]
    details = {
        "people": len(patients),
        "from": "patients, jittered" if workshop.data else "a fit to the patients",
        "people_whose_model_is_monotone": monotone,
        "people_whom_published_answers_wrongly": wrong,
        "answers_of_a_person": median(patient.answered.summary["count"] for patient in patients),
        "published_ms": milliseconds([each.published for each in timed]),
        # No search can be faster than the calls of the model that it cannot do without.
        "model_alone_ms": milliseconds([each.model for each in timed]),
        "ratio_of_the_model_alone": median(each.published / each.model for each in timed),
    }
    for part, asked in (("search", 25), ("total", 12)):
        ours = [getattr(each, part) for each in timed]
        ratio = median(each.published / mine for each, mine in zip(timed, ours, strict=True))
        own = {"ours_ms": milliseconds(ours), "ratio_of_all_together": sum(e.published for e in timed) / sum(ours)}
        title = f"hcv, {len(patients)} people: {part} against published"
        yield Figure(f"hcv.{part}", title, "at least", asked, ratio, "times faster", {**own, **details})


def _patients(workshop: Workshop) -> Iterator[Patient]:
    wanted = workshop.sizes.people
    for person in people(workshop.data):
        body = request(person, registry=REGISTRY)
        answered = workshop.asker.ask(MODEL, body)
        if answered.summary["outcome"] == "found":
            yield Patient(body, answered)
            wanted -= 1
        if not wanted:
            return


def _checked(workshop: Workshop, patients: list[Patient]) -> tuple[int, int]:
    """Hold both sides against every subset: ours must be right, published at least where the model is monotone."""
    judge = workshop.judge(MODEL)
    wrong = monotone = 0
    for patient in workshop.track(patients, "hcv: every subset"):
        lines: list[str] = []
        answered = workshop.asker.ask(MODEL, patient.body, lines.append)
        every = EverySubset(answered.posed, judge)
        agreed({answered.columns(line) for line in lines} == every.minimal, "hcv: our answers, and every subset")
        differs = set(workshop.published(MODEL, answered.posed).answers()) != every.minimal
        agreed(not (every.monotone and differs), "hcv: published and every subset, where the model is monotone")
        wrong += differs
        monotone += every.monotone
    return wrong, monotone


def _timed(workshop: Workshop, patient: Patient) -> Timed:
    searches, totals, models, published = [], [], [], []
    other = workshop.published(MODEL, patient.answered.posed)
    for _ in range(workshop.sizes.repeats):
        answered = workshop.asker.ask(MODEL, patient.body)
        searches.append(answered.search)
        totals.append(answered.total)
        models.append(answered.model)
        began = perf_counter()
        for _ in other.answers():
            pass
        published.append(perf_counter() - began)
    return Timed(median(searches), median(totals), median(models), median(published))
