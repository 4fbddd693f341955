"""DiCE by its authors' package, dice-ml: the method `random`, its default, which needs no gradient.

Its method `genetic` is left out: it starts only when chance has given it ten favourable points for each wanted one,
however long that takes, its loss holds no diversity, and its mutations all set a feature to its lowest value.
"""

import importlib
import io
import random
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any

import numpy as np

from lab.paper.questions.network import Network, Rows
from lab.paper.questions.question import Question, no_rows

# Decimals of the values that the package draws: finer than any difference that the metrics tell.
DECIMALS = 6
_OUTCOME = "favourable"


class _OutOfTime(Exception):
    """Leaves the package in the midst of its search."""


class _Classifier:
    """The network as the package asks it: like scikit-learn, and no longer than there is time."""

    def __init__(self, network: Network, deadline: float) -> None:
        self._network = network
        self._deadline = deadline

    def predict_proba(self, rows: Any) -> Rows:
        if time.thread_time() >= self._deadline:
            raise _OutOfTime
        scores = self._network.scores(np.asarray(rows, dtype=np.float64))
        return np.column_stack([1 - scores, scores])


def import_package() -> None:
    """Import the package beforehand: it takes seconds."""
    importlib.import_module("dice_ml")


def dice_package(question: Question) -> Rows:
    """What the package finds in the ranges of the data; fewer rows where it finds fewer."""
    # Nothing else needs these two, so that nothing else waits for them.
    import pandas as pd  # noqa: PLC0415
    from raiutils.exceptions import UserConfigValidationException  # noqa: PLC0415

    names = [f"feature {position}" for position in range(len(question.instance))]
    person = pd.DataFrame([question.instance], columns=names)
    with _seeded(question.seed), _quiet():
        explainer = _explainer(question, names)
        try:
            answer = explainer.generate_counterfactuals(person, total_CFs=question.count, desired_class=1)
        except (UserConfigValidationException, _OutOfTime):
            # The first is how the package says that it has found nothing.
            return no_rows(question)
    found: Rows = answer.cf_examples_list[0].final_cfs_df[names].to_numpy(dtype=np.float64)
    return found


def _explainer(question: Question, names: list[str]) -> Any:
    import dice_ml  # noqa: PLC0415

    spread = question.spread
    data = dice_ml.Data(
        features={name: list(ends) for name, *ends in zip(names, spread.lowest, spread.highest, strict=True)},
        outcome_name=_OUTCOME,
        type_and_precision={name: ["float", DECIMALS] for name in names},
        mad=dict(zip(names, spread.deviations, strict=True)),
    )
    classifier = _Classifier(question.network, time.thread_time() + question.seconds)
    model = dice_ml.Model(model=classifier, backend="sklearn", model_type="classifier")
    return dice_ml.Dice(data, model, method="random")


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """The package draws from the global generators. Its own option gives every feature the same draws."""
    before, numpy_before = random.getstate(), np.random.get_state()
    random.seed(seed)
    np.random.seed(seed % 2**32)
    try:
        yield
    finally:
        random.setstate(before)
        np.random.set_state(numpy_before)


@contextmanager
def _quiet() -> Iterator[None]:
    """The package draws a bar, prints when it finds nothing, and calls pandas in a way that pandas gives up."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield
