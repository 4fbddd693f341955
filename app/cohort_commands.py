"""What `flipset cohort` does. What cannot be done is told on the way out."""

import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from app.adapters.catalog import catalog_of
from app.adapters.snapshots import Snapshot, take_snapshot
from app.api.bodies import parse_json
from app.api.errors import RequestError, UnknownModel, problem
from app.api.posing import Terms
from app.api.service import Service
from app.cohort_progress import watching
from app.cohorts.answers_folder import AnswersFolder, InUse, OtherRun
from app.cohorts.cells import rows_of
from app.cohorts.columns import BadColumns, read_columns
from app.cohorts.failures import NoCluster, SolverFailed
from app.cohorts.job import Job, only, settings_for_a_run
from app.cohorts.kinds import Kinds
from app.cohorts.local import LocalWorkers
from app.cohorts.people_files import BadInput, people_files, rows_in
from app.cohorts.running import Input, Workers, check_kept, record_of, run
from app.cohorts.solving import terms_of
from app.cohorts.tables import schemas
from app.cohorts.values import words_of
from app.commands import refusal
from app.settings import Settings

# More of the same would be read by nobody.
MOST_COMPLAINTS = 10
# What a person, and not the register, is asked with.
OF_A_PERSON = ("instance", "context")


@dataclass(frozen=True, slots=True)
class Options:
    """What the command was told."""

    model: str
    people: Path
    out: Path
    constraints: Path | None
    request: Path | None
    form: str | None
    columns: Mapping[str, str]
    mapping: Path | None
    context: Sequence[str]
    kept: Sequence[str]
    person: str | None
    engine: str
    address: str | None
    workers: int
    partition_rows: int
    chunk_rows: int
    max_counterfactuals: int
    command: Sequence[str]


class Stopped(BaseException):
    """Somebody asked for the end, wherever we are; `code` is what the command ends with."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def cohort(settings: Settings, options: Options) -> None:
    """Answer for everybody in the files of people."""
    try:
        _cohort(settings, options)
    except (BadColumns, BadInput, InUse, NoCluster, OtherRun) as error:
        raise SystemExit(str(error)) from None
    except RequestError as error:
        raise SystemExit(refusal(problem(error))) from None
    except FileExistsError:
        raise SystemExit(f"--out {options.out}: is a file; name a folder") from None
    except OSError as error:
        raise SystemExit(f"{error.filename or options.out}: {error.strerror}") from None
    except SolverFailed as error:
        raise SystemExit(f"Stopped by a mistake of Flipset's own: {error}\n{_how_to_go_on(options)}") from None


def _cohort(settings: Settings, options: Options) -> None:
    snapshot = take_snapshot(settings.models_dir, settings.normal_ranges_dir, settings.model_file_mb * 2**20)
    request = _request(options)
    own = settings_for_a_run(settings, options.max_counterfactuals)
    files = tuple(people_files(options.people, options.form))
    if options.people.is_dir() and (others := sum(1 for _ in options.people.iterdir()) - len(files)):
        _say(f"{options.people}: {_counted(len(files), 'file')} read; what else is in it is left alone: {others:,}")
    service = Service(own, catalog_of(_files_of(snapshot, options.model)))
    model = service.model(options.model)
    terms = terms_of(service, model, request)
    columns = read_columns(model, _given_columns(options), options.context, options.kept, options.person)
    check_kept(columns, model)
    people = Input(files, options.form, columns, options.partition_rows, options.chunk_rows)
    people.check_columns()
    _complain(people, sorted(terms.pair.asked - {*columns.context, *model.positions}))
    _complain_of_strangers(people, terms)
    needed = {name for name in (model.registry, request.get("registry")) if name is not None}
    job = Job(only(snapshot, options.model, needed), own, options.model, request, columns, people.kept_fields())
    folder = AnswersFolder(options.out, schemas(model.scorer.score_dtype, job.kept))
    record = record_of(list(options.command), terms, service.limits(terms.request.limits), snapshot, request, people)
    with folder.claimed():
        if folder.begin(record):
            print(f"{options.out}: is finished already; nothing was done.")
            return
        before = _stamps(people)
        _answered(people, job, folder, options)
        if _stamps(people) != before:
            raise BadInput(f"{options.people}: changed while it was read. Remove {options.out}, and begin again.")
        _conclude(folder.finish(record), options.out)


def _stamps(people: Input) -> list[tuple[int, int]]:
    return [(file.stat().st_size, file.stat().st_mtime_ns) for file in people.files]


def _files_of(snapshot: Snapshot, model: str) -> Snapshot:
    """Those of the one model, and all registries: others may be broken, and take time to load."""
    known = [folder.name for folder in snapshot.model_folders]
    if model not in known:
        raise UnknownModel(model, known)
    return only(snapshot, model, {file.stem for file in snapshot.registries})


def _answered(people: Input, job: Job, folder: AnswersFolder, options: Options) -> None:
    total = sum(rows_in(file, people.form) for file in people.files)
    workers = _workers(job, options)
    try:
        with _stoppable(), watching(total) as watcher:
            run(people, workers, folder, watcher)
    except Stopped as stopped:
        _say(f"Stopped. {_how_to_go_on(options)}")
        raise SystemExit(stopped.code) from None
    finally:
        workers.close()


def _workers(job: Job, options: Options) -> Workers:
    if options.engine == "ray":
        from app.cohorts.cluster import RayWorkers  # noqa: PLC0415  # an optional group, and a second to import

        return RayWorkers(job, options.workers, options.address)
    return LocalWorkers(job, options.workers)


def _how_to_go_on(options: Options) -> str:
    return f"What is written in {options.out} is kept: the same command goes on from there."


def _request(options: Options) -> dict[str, Any]:
    """What is asked of everybody: a request without a person, and the constraints of a file of their own."""
    asked = {} if options.request is None else _json(options.request)
    for name in OF_A_PERSON:
        if name in asked:
            raise BadInput(f"{options.request}: {name}: belongs to a person; leave it out")
    if options.constraints is not None:
        if "constraints" in asked:
            raise BadInput(f"{options.constraints}: {options.request} holds constraints already")
        asked["constraints"] = _json(options.constraints)
    return asked


def _given_columns(options: Options) -> dict[str, str]:
    mapped = {} if options.mapping is None else _json(options.mapping)
    for name, column in mapped.items():
        if not isinstance(column, str):
            raise BadInput(f"{options.mapping}: {name}: must be the name of a column")
    return {**mapped, **options.columns}


def _json(file: Path) -> dict[str, Any]:
    try:
        content = parse_json(file.read_bytes())
    except OSError as error:
        raise BadInput(f"{file}: {error.strerror}") from None
    except RequestError as error:
        raise BadInput(f"{file}: {error.detail.replace('The body', 'The file')}") from None
    if not isinstance(content, dict):
        raise BadInput(f"{file}: must be a JSON object")
    return content


def _complain(people: Input, lacking: Sequence[str]) -> None:
    """What is known beforehand to spoil all rows, before they are all rejected."""
    complaints = list(people.complaints())
    for complaint in complaints[:MOST_COMPLAINTS]:
        _say(complaint)
    if len(complaints) > MOST_COMPLAINTS:
        _say(f"... and {len(complaints) - MOST_COMPLAINTS:,} more of that kind.")
    if lacking:
        _say(f"The normal ranges ask for {' and '.join(lacking)}. Name the columns: --context {','.join(lacking)}")


def _complain_of_strangers(people: Input, terms: Terms) -> None:
    """A register that writes f for female would be held against the ranges for everybody, and nobody would notice."""
    first = next(people.chunks(), None)
    if first is None:
        return
    rows = rows_of(first, people.columns.wanted, words_of(terms, people.columns))
    for key, known in Kinds(terms, people.columns).strangers(rows):
        _say(
            f"{key}: some rows say what no range knows; known are {', '.join(known)}. The ranges for all hold for them."
        )


def _say(text: str) -> None:
    """What is not the result of the command, but about it."""
    print(text, file=sys.stderr, flush=True)


@contextmanager
def _stoppable() -> Iterator[None]:
    """Ctrl-C and SIGTERM end the run between two partitions, as if they were an error."""

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        raise Stopped(128 + number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _conclude(record: Mapping[str, Any], out: Path) -> None:
    outcomes = [f"{count:,} {name}" for name, count in record["outcomes"].items()]
    print(f"{_counted(record['rows'], 'row')}: {record['people']:,} people, {record['rejects']:,} rejected.")
    if record["unreadable_files"]:
        lost = _counted(record["unreadable_files"], "file")
        _say(f"{lost} could not be read; each counts as one row, and {out / 'rejects'} names it.")
    print(f"Of the people: {', '.join(outcomes) or 'nobody'}. {record['counterfactuals']:,} counterfactuals.")
    print(f"Written to {out}: people, counterfactuals, rejects, run.json.")
    if record["rejects"] and not record["people"]:
        raise SystemExit(f"Nobody could be answered for: {out / 'rejects'} says why.")
