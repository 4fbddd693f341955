"""An answer that is all there: kept, as a data frame, and as a small table in a notebook."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Protocol, TypeVar, cast, overload

from flipset_client.lines import Counterfactual, Start, Summary

T = TypeVar("T")
# What a data frame is made of.
Columns = Mapping[str, Sequence[object]]
LIBRARIES = ("pandas", "polars")


class Frame(Protocol):
    """A data frame of pandas or of polars."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def __len__(self) -> int: ...

    def __getitem__(self, column: str, /) -> Sequence[object]: ...


@dataclass(frozen=True, slots=True)
class WholeAnswer:
    """All lines of an answer."""

    start: Start
    plans: tuple[Counterfactual, ...]
    summary: Summary

    def __iter__(self) -> Iterator[Counterfactual]:
        return iter(self.plans)

    def __len__(self) -> int:
        return len(self.plans)

    @overload
    def to_frame(self) -> Frame: ...

    @overload
    def to_frame(self, make: Callable[[Columns], T]) -> T: ...

    def to_frame(self, make: Callable[[Columns], object] | None = None) -> object:
        """A data frame with one row for each plan: of pandas or polars, or as `make` makes it.

        The changed row is in the columns `instance.<feature>`, the names of the changed features are in `changes`.
        """
        return (make or _installed_frame())(self._columns())

    def _columns(self) -> Columns:
        features = [feature.name for feature in self.start.features]
        return {
            "rank": [plan.rank for plan in self.plans],
            "sentence": [plan.sentence for plan in self.plans],
            "changes": [[change.feature for change in plan.changes] for plan in self.plans],
            "cost": [plan.cost for plan in self.plans],
            "label": [plan.label for plan in self.plans],
            "score": [plan.score for plan in self.plans],
            **{f"instance.{name}": [plan.instance[name] for plan in self.plans] for name in features},
        }

    def _repr_html_(self) -> str:
        return html_of(self.start, self.plans, self.summary, 0)


def html_of(start: Start, plans: Sequence[Counterfactual], summary: Summary | None, given: int) -> str:
    """The decision, the plans, and whether that is all. `given` plans were taken before."""
    decision = start.prediction
    head = f"{start.model.name} {start.model.version}: {decision.label or ''} {decision.score:g}"
    rows = [
        f"<tr><td>{plan.rank}</td><td>{escape(plan.sentence)}</td><td>{plan.score:g}</td><td>{plan.cost:g}</td></tr>"
        for plan in plans
    ]
    columns = "<tr><th>rank</th><th>plan</th><th>score</th><th>cost</th></tr>"
    table = f"<table><thead>{columns}</thead><tbody>{''.join(rows)}</tbody></table>" if rows else ""
    return f"<p>{escape(head)}</p>{table}<p>{escape(_foot(summary, given))}</p>"


def _foot(summary: Summary | None, given: int) -> str:
    taken = f"{given} plans were read before. " if given else ""
    if summary is None:
        return f"{taken}The search goes on."
    proved = "that is all, and proved" if summary.complete else "there may be more"
    return f"{taken}{summary.outcome}: {summary.count} plans; {proved}."


def _installed_frame() -> Callable[[Columns], Frame]:
    for name in LIBRARIES:
        if find_spec(name) is not None:
            return cast("Callable[[Columns], Frame]", import_module(name).DataFrame)
    raise ImportError("install pandas or polars to get a data frame")
