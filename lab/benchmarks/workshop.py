"""What every figure is measured with: the sizes, the models, our side, and the other side's judges."""

import gc
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from lab.benchmarks.models import names, write_models
from lab.benchmarks.requests.asking import Asker, request
from lab.benchmarks.searches.sizes import Sizes
from lab.paper.questions.posing import Posed
from lab.paper.questions.row_judge import RowJudge

if TYPE_CHECKING:
    from lab.paper.published_cemsp import PublishedCemsp

T = TypeVar("T")
# Hands on what it is given, and shows how far it is.
Track = Callable[[Iterable[T], str], Iterator[T]]


class Workshop:
    """Set up once for a run; both solvers are warm."""

    def __init__(self, folder: Path, sizes: Sizes, data: Path | None, track: Track) -> None:
        self.sizes = sizes
        self.data = data
        self.track = track
        self.folder = folder
        self.models = folder / "models"
        self.ranges = folder / "normal_ranges"
        write_models(self.models, self.ranges, sizes)
        self.asker = Asker(self.models, self.ranges)
        self._warm_up()

    def judge(self, model: str) -> RowJudge:
        return RowJudge(self.models / model / "model.onnx")

    def published(self, model: str, posed: Posed) -> "PublishedCemsp":
        # Here, because it needs Z3, and `make test` reads this module without.
        from lab.paper.published_cemsp import PublishedCemsp  # noqa: PLC0415

        return PublishedCemsp(self.judge(model), posed.instance, posed.targets)

    def _warm_up(self) -> None:
        """Z3 takes a tenth of a second when it is first used, whoever asks."""
        width = self.sizes.many_answers
        body = request(dict.fromkeys(names(width), 0), limits={"engine": "cemsp", "max_counterfactuals": 1})
        answered = self.asker.ask(f"five-of-{width}", body)
        next(self.published(f"five-of-{width}", answered.posed).answers())
        # As the server does when it is ready; both sides gain by it.
        gc.collect()
        gc.freeze()
