"""What `flipset cohort` does. Errors end the command with a message."""

import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from app.adapters.catalog import catalog_of
from app.adapters.files.names import counted
from app.adapters.files.snapshots import Snapshot, take_snapshot
from app.answering.service import Service
from app.api.problems import problem
from app.asking.parsing import parse_json
from app.asking.posing import Terms
from app.asking.refusals import RequestError, UnknownModel
from app.cli.models import refusal
from app.cli.progress import watching
from app.cohorts.answers_folder import AnswersFolder, InUse, OtherRun
from app.cohorts.failures import NoCluster, SolverFailed
from app.cohorts.job import Job, only, settings_for_a_run
from app.cohorts.local import LocalWorkers
from app.cohorts.reading.cells import rows_of
from app.cohorts.reading.columns import BadColumns, read_columns
from app.cohorts.reading.people_files import BadInput, people_files, rows_in
from app.cohorts.running import Input, Workers, check_kept, record_of, run
from app.cohorts.solving.range_groups import RangeGroups
from app.cohorts.solving.solver import terms_of
from app.cohorts.solving.values import words_of
from app.cohorts.tables import schemas
from app.settings import Settings

# Nobody reads more than this.
MOST_COMPLAINTS = 10
# Fields of a request that belong to one person.
OF_A_PERSON = ("instance", "context")


@dataclass(frozen=True, slots=True)
class Options:
    """The options of the command."""

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
    """A signal stopped the command; `code` is its exit status."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def cohort(settings: Settings, options: Options) -> None:
    """Answer for everyone in the files of people."""
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
        raise SystemExit(f"Stopped by a bug in Flipset: {error}\n{_how_to_go_on(options)}") from None


def _cohort(settings: Settings, options: Options) -> None:
    snapshot = take_snapshot(settings.models_dir, settings.normal_ranges_dir, settings.model_file_mb * 2**20)
    request = _request(options)
    own = settings_for_a_run(settings, options.max_counterfactuals)
    files = tuple(people_files(options.people, options.form))
    if options.people.is_dir() and (others := sum(1 for _ in options.people.iterdir()) - len(files)):
        _say(f"{options.people}: reading {counted(len(files), 'file')}, ignoring {others:,} other")
    service = Service(own, catalog_of(_files_of(snapshot, options.model)))
    chosen = service.model(options.model)
    terms, model = terms_of(service, chosen, request), chosen.model
    columns = read_columns(model, _given_columns(options), options.context, options.kept, options.person)
    check_kept(columns, model)
    people = Input(files, options.form, columns, options.partition_rows, options.chunk_rows)
    people.check_columns()
    _complain(people, sorted(terms.prepared.asked.keys() - {*columns.context, *model.positions}))
    _complain_of_unknown_texts(people, terms)
    named = (model.registry, request.get("registry"), *(model.policy.registries or ()))
    needed = {name for name in named if name is not None}
    job = Job(only(snapshot, options.model, needed), own, options.model, request, columns, people.kept_fields())
    folder = AnswersFolder(options.out, schemas(model.scorer.score_dtype, job.kept))
    record = record_of(list(options.command), terms, service.limits(terms.request.limits), request, people)
    with folder.claimed():
        if folder.begin(record):
            print(f"{options.out}: is already finished; there is nothing to do.")
            return
        before = _stamps(people)
        _answered(people, job, folder, options)
        if _stamps(people) != before:
            raise BadInput(f"{options.people}: changed while it was read. Remove {options.out} and start again.")
        _conclude(folder.finish(record), options.out)


def _stamps(people: Input) -> list[tuple[int, int]]:
    return [(file.stat().st_size, file.stat().st_mtime_ns) for file in people.files]


def _files_of(snapshot: Snapshot, model: str) -> Snapshot:
    """The files of this model and all registries: other models may be broken, and take time to load."""
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
    return f"The answers in {options.out} are kept. Run the same command to continue."


def _request(options: Options) -> dict[str, Any]:
    """The request for everyone, without a person: from --request and --constraints."""
    asked = {} if options.request is None else _json(options.request)
    for name in OF_A_PERSON:
        if name in asked:
            raise BadInput(f"{options.request}: {name}: belongs to a person; remove it")
    if options.constraints is not None:
        if "constraints" in asked:
            raise BadInput(f"{options.constraints}: {options.request} already holds constraints")
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
        content = parse_json(file.read_bytes(), "file")
    except OSError as error:
        raise BadInput(f"{file}: {error.strerror}") from None
    except RequestError as error:
        raise BadInput(f"{file}: {error.detail}") from None
    if not isinstance(content, dict):
        raise BadInput(f"{file}: must be a JSON object")
    return content


def _complain(people: Input, lacking: Sequence[str]) -> None:
    """Warn of mistakes that will reject all rows, before the run starts."""
    complaints = list(people.complaints())
    for complaint in complaints[:MOST_COMPLAINTS]:
        _say(complaint)
    if len(complaints) > MOST_COMPLAINTS:
        _say(f"... and {len(complaints) - MOST_COMPLAINTS:,} more.")
    if lacking:
        _say(f"The normal ranges depend on {' and '.join(lacking)}. Name the columns: --context {','.join(lacking)}")


def _complain_of_unknown_texts(people: Input, terms: Terms) -> None:
    """Warn of values such as f for female, which would silently get the ranges for everyone, or none."""
    first = next(people.chunks(), None)
    if first is None:
        return
    rows = rows_of(first, people.columns.wanted, words_of(terms, people.columns))
    for key, known in RangeGroups(terms, people.columns).unknown_texts(rows):
        _say(
            f"{key}: some rows have values that no range names; the ranges name {', '.join(known)}. "
            "Those rows get the ranges for everyone, or none."
        )


def _say(text: str) -> None:
    """Print a message on standard error."""
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


def _conclude(record: Mapping[str, Any], out: Path) -> None:
    outcomes = [f"{count:,} {name}" for name, count in record["outcomes"].items()]
    print(f"{counted(record['rows'], 'row')}: {record['people']:,} people, {record['rejects']:,} rejected.")
    if record["unreadable_files"]:
        lost = counted(record["unreadable_files"], "file")
        _say(f"{lost} could not be read; each counts as one row in {out / 'rejects'}.")
    print(f"People: {', '.join(outcomes) or 'none'}. {record['counterfactuals']:,} counterfactuals.")
    print(f"Written to {out}: people, counterfactuals, rejects, run.json.")
    if record["rejects"] and not record["people"]:
        raise SystemExit(f"All rows were rejected. {out / 'rejects'} says why.")
