"""What `flipset cohort` does. Errors end the command with a message."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from app.adapters.files.names import counted
from app.cli.register_options import Options
from app.cli.register_run import RegisterRun, tell_rejected, told
from app.cohorts.answers_folder import AnswersFolder, outcomes
from app.cohorts.running import check_kept
from app.cohorts.solving.solver import Solver, schemas_of
from app.settings import Settings


def cohort(settings: Settings, model: str, options: Options) -> None:
    """Answer for everyone in the files of people."""
    with told(options):
        run = RegisterRun(settings, options)
        posed = run.posed(model)
        columns = run.columns(posed.terms)
        check_kept(columns, schemas_of(posed.terms, reasons=True).people.names)
        people = run.people(columns, [posed.terms])
        job = run.job(posed.terms, people)
        folder = AnswersFolder(options.out, schemas_of(posed.terms, job.kept, reasons=job.reasons))
        record = run.answered(people, partial(Solver, job), folder, run.record(posed, people), outcomes)
    if record is None:
        print(f"{options.out}: is already finished; there is nothing to do.")
    else:
        _conclude(record, options.out)


def _conclude(record: Mapping[str, Any], out: Path) -> None:
    outcomes = [f"{count:,} {name}" for name, count in record["outcomes"].items()]
    print(f"{counted(record['rows'], 'row')}: {record['people']:,} people, {record['rejects']:,} rejected.")
    print(f"People: {', '.join(outcomes) or 'none'}. {record['counterfactuals']:,} counterfactuals.")
    print(f"Written to {out}: people, counterfactuals, rejects, run.json.")
    tell_rejected(record, out)
