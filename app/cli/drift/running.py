"""What `flipset drift` does. Errors end the command with a message."""

import sys
from functools import partial
from typing import Any

from rich.console import Console

from app.api.problems import problem
from app.asking.refusals import RequestError, UnknownModel
from app.cli.drift.telling import json_lines, show
from app.cli.models import refusal
from app.cli.register_options import Options
from app.cli.register_run import Posed, RegisterRun, say, tell_rejected, told
from app.cohorts.answers_folder import AnswersFolder
from app.cohorts.drift.counting import affected, drift_counts
from app.cohorts.drift.features import OtherFeatures, check_same_features
from app.cohorts.drift.solver import DriftSolver
from app.cohorts.drift.tables import drift_schemas
from app.cohorts.running import Input, check_kept, model_facts, registry_facts
from app.cohorts.tables import schemas
from app.settings import Settings


def drift(settings: Settings, old: str, new: str, options: Options) -> None:
    """Compare two versions of a model on everyone in the files of people."""
    if old == new:
        raise SystemExit(f"{old} is named twice: name the model in use, and its next version")
    with told(options):
        run = RegisterRun(settings, options)
        before, after = _posed(run, old), _posed(run, new)
        _check_features(before, after)
        one, other = (schemas(each.terms.model.scorer.score_dtype) for each in (before, after))
        columns = run.columns(before.terms)
        check_kept(columns, drift_schemas(one, other).people.names)
        people = run.people(columns, [before.terms, after.terms])
        jobs = [run.job(each.terms, people) for each in (before, after)]
        folder = AnswersFolder(options.out, drift_schemas(one, other, people.kept_fields()))
        record = _record(run, before, after, people)
        counts = run.answered(people, partial(DriftSolver, *jobs), folder, record, drift_counts)
    _tell(folder, counts)


def _posed(run: RegisterRun, model: str) -> Posed:
    """What is asked of one version; a refusal names the version."""
    try:
        return run.posed(model)
    except UnknownModel:
        raise
    except RequestError as error:
        raise SystemExit(f"{model}: {refusal(problem(error))}") from None


def _check_features(old: Posed, new: Posed) -> None:
    try:
        check_same_features(old.terms.model, new.terms.model)
    except OtherFeatures as error:
        raise SystemExit(str(error)) from None


def _record(run: RegisterRun, old: Posed, new: Posed, people: Input) -> dict[str, Any]:
    both = {"old": old.terms, "new": new.terms}
    return {
        **run.record(old, people),
        "model": {version: model_facts(terms) for version, terms in both.items()},
        "registry": {version: registry_facts(terms) for version, terms in both.items()},
    }


def _tell(folder: AnswersFolder, counts: dict[str, Any] | None) -> None:
    """Print what a run found; a finished run is printed again."""
    if counts is None:
        say(f"{folder.path}: is already finished; this is what it holds.")
    record = counts or folder.record()
    people = affected(folder.files("people"))
    if sys.stdout.isatty():
        show(record, people, folder.path, Console())
    else:
        for line in json_lines(record, people):
            print(line)
    tell_rejected(record, folder.path)
