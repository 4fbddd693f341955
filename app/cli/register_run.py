"""What the commands about whole registers share: the options, the people, and a run that can be stopped."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from app.adapters.catalog import catalog_of
from app.adapters.files.names import counted
from app.adapters.files.snapshots import Snapshot, take_snapshot
from app.answering.service import Service
from app.api.problems import problem
from app.asking.parsing import parse_json
from app.asking.posing.terms import Terms
from app.asking.refusals import RequestError, UnknownModel
from app.cli.models import refusal
from app.cli.progress import watching
from app.cli.register_options import Options
from app.cli.stopping import Stopped, stoppable
from app.cohorts.answers_folder import AnswersFolder, Count, InUse, OtherRun
from app.cohorts.failures import NoCluster, SolverFailed
from app.cohorts.job import ChunkSolver, Job, only, settings_for_a_run
from app.cohorts.local import LocalWorkers
from app.cohorts.partitions import Partitioned, PartitionWriter, write_all
from app.cohorts.reading.cells import rows_of
from app.cohorts.reading.columns import BadColumns, Columns, pairs, read_columns
from app.cohorts.reading.people_files import BadInput, is_parquet, people_files, rows_in
from app.cohorts.running import Input, Watcher, record_of, run, stated_reasons
from app.cohorts.solving.range_groups import RangeGroups
from app.cohorts.solving.solver import terms_of
from app.cohorts.solving.values import words_of
from app.settings import Settings

if TYPE_CHECKING:
    from app.cohorts.cluster import RayWorkers

# Nobody reads more than this.
MOST_COMPLAINTS = 10
# Fields of a request that belong to one person.
OF_A_PERSON = ("instance", "context")


def columns_of(given: Sequence[str]) -> dict[str, str]:
    """The columns that --column names; ends the command if it cannot be read."""
    try:
        return pairs("--column", given)
    except BadColumns as error:
        raise SystemExit(str(error)) from None


class Posed(NamedTuple):
    """A model of a run, and what is asked of it for everyone."""

    service: Service
    terms: Terms


@contextmanager
def told(options: Options) -> Iterator[None]:
    """End the command with a message, whatever goes wrong."""
    try:
        yield
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


class RegisterRun:
    """A command about a register: its options, the request for everyone, and the files of people."""

    def __init__(self, settings: Settings, options: Options) -> None:
        self.options = options
        most = settings.model_file_mb * 2**20
        self._snapshot = take_snapshot(settings.models_dir, settings.normal_ranges_dir, most, settings.predictor_url)
        self._request = _request(options)
        self._settings = settings_for_a_run(settings, options.max_counterfactuals)
        self._files = tuple(people_files(options.people, options.form))
        _check_shared(options, self._files)
        if options.people.is_dir() and (others := sum(1 for _ in options.people.iterdir()) - len(self._files)):
            say(f"{options.people}: reading {counted(len(self._files), 'file')}, ignoring {others:,} other")

    def posed(self, model: str) -> Posed:
        """What is asked of this model, or `RequestError`."""
        service = Service(self._settings, catalog_of(_files_of(self._snapshot, model)))
        return Posed(service, terms_of(service, service.model(model), self._request))

    def columns(self, terms: Terms) -> Columns:
        options = self.options
        return read_columns(
            terms.model, _given_columns(options), options.context or (), options.keep or (), options.person
        )

    def people(self, columns: Columns, asked: Sequence[Terms]) -> Input:
        """The people; warns of mistakes that reject all rows, or give people the wrong ranges."""
        people = Input(self._files, self.options.form, columns, self.options.partition_rows, self.options.chunk_rows)
        people.check_columns()
        needed = {key for terms in asked for key in terms.prepared.asked.keys() - {*terms.model.positions}}
        _complain(people, sorted(needed - {*columns.context}))
        for warning in dict.fromkeys(text for terms in asked for text in _unknown_texts(people, terms)):
            say(warning)
        return people

    def job(self, terms: Terms, people: Input) -> Job:
        """What a worker needs to answer with this model."""
        model = terms.model
        named = (model.registry, self._request.get("registry"), *(model.policy.registries or ()))
        snapshot = only(self._snapshot, model.name, {name for name in named if name is not None})
        kept, reasons = people.kept_fields(), self.options.reasons
        return Job(snapshot, self._settings, model.name, self._request, people.columns, kept, reasons)

    def record(self, posed: Posed, people: Input) -> dict[str, Any]:
        limits = posed.service.limits(posed.terms.request.limits)
        record = record_of(self.options.command, posed.terms, limits, self._request, people)
        return {**record, "reasons": stated_reasons(posed.terms) if self.options.reasons else None}

    def answered(
        self,
        people: Input,
        make: Callable[[], ChunkSolver],
        folder: AnswersFolder,
        record: Mapping[str, Any],
        count: Count,
    ) -> dict[str, Any] | None:
        """Answer for everyone and return the completed record; None if an earlier run has finished that."""
        with folder.claimed():
            if folder.begin(record):
                return None
            before = _stamps(people)
            self._answer(people, make, folder)
            if _stamps(people) != before:
                out = self.options.out
                raise BadInput(f"{self.options.people}: changed while it was read. Remove {out} and start again.")
            return folder.finish(record, count)

    def _answer(self, people: Input, make: Callable[[], ChunkSolver], folder: AnswersFolder) -> None:
        counts = tuple(rows_in(file, people.form) for file in people.files)
        work, close = self._work(Partitioned(people, counts), make, folder)
        try:
            with stoppable(), watching(sum(counts)) as watcher:
                work(watcher)
        except Stopped as stopped:
            say(f"Stopped. {_how_to_go_on(self.options)}")
            raise SystemExit(stopped.code) from None
        finally:
            close()

    def _work(
        self, whole: Partitioned, make: Callable[[], ChunkSolver], folder: AnswersFolder
    ) -> tuple[Callable[[Watcher], None], Callable[[], None]]:
        """What answers for everyone, and what ends its workers."""
        if self.options.shared:
            writers = self._on_ray(partial(PartitionWriter, make, whole, folder))
            return partial(write_all, whole, writers, folder), writers.close
        workers = self._on_ray(make) if self.options.engine == "ray" else LocalWorkers(make, self.options.workers)
        return partial(run, whole.people, workers, folder), workers.close

    def _on_ray(self, make: Callable[[], ChunkSolver | PartitionWriter]) -> "RayWorkers":
        from app.cohorts.cluster import RayWorkers  # noqa: PLC0415  # an optional group, and a second to import

        return RayWorkers(make, self.options.workers, self.options.address)


def tell_rejected(record: Mapping[str, Any], out: Path) -> None:
    """Say what was not read; end the command if that is everything."""
    if record["unreadable_files"]:
        lost = counted(record["unreadable_files"], "file")
        say(f"{lost} could not be read; each counts as one row in {out / 'rejects'}.")
    if record["rejects"] and not record["people"]:
        raise SystemExit(f"All rows were rejected. {out / 'rejects'} says why.")


def _stamps(people: Input) -> list[tuple[int, int]]:
    return [(file.stat().st_size, file.stat().st_mtime_ns) for file in people.files]


def _check_shared(options: Options, files: Sequence[Path]) -> None:
    if not options.shared:
        return
    if options.engine != "ray":
        raise BadInput("--shared: is for --engine ray; on one machine, leave it out")
    if text := next((file for file in files if not is_parquet(file, options.form)), None):
        raise BadInput(f"--shared: {text.name} is not Parquet, and workers cannot start in the middle of a text")


def _files_of(snapshot: Snapshot, model: str) -> Snapshot:
    """The files of this model and all registries: other models may be broken, and take time to load."""
    known = [folder.name for folder in snapshot.model_folders]
    if model not in known:
        raise UnknownModel(model, known)
    return only(snapshot, model, {file.stem for file in snapshot.registries})


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
    return {**mapped, **columns_of(options.column or ())}


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
        say(complaint)
    if len(complaints) > MOST_COMPLAINTS:
        say(f"... and {len(complaints) - MOST_COMPLAINTS:,} more.")
    if lacking:
        say(f"The normal ranges depend on {' and '.join(lacking)}. Name the columns: --context {','.join(lacking)}")


def _unknown_texts(people: Input, terms: Terms) -> Iterator[str]:
    """Warnings of values such as f for female, which would silently get the ranges for everyone, or none."""
    first = next(people.chunks(), None)
    if first is None:
        return
    rows = rows_of(first, people.columns.wanted, words_of(terms, people.columns))
    for key, known in RangeGroups(terms, people.columns).unknown_texts(rows):
        yield (
            f"{key}: some rows have values that no range names; the ranges name {', '.join(known)}. "
            "Those rows get the ranges for everyone, or none."
        )


def say(text: str) -> None:
    """Print a message on standard error."""
    print(text, file=sys.stderr, flush=True)
