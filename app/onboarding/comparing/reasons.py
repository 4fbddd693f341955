"""Why a served model and its trainer may disagree: each likely mistake is made, or undone, and the rows asked again."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.adapters.graphs.models import Model
from app.core.favourable import FavourableClasses, Floats
from app.onboarding.comparing.served import favourable_score, raw_scores

# Scores that float32 cannot tell apart any better.
CLOSE = 1e-4
# A reason must explain nearly every row.
NEARLY_ALL = 0.99
# Rows that reasons are tried on, and pairs of columns that are swapped.
MOST_TRIED = 500
MOST_SWAPS = 5_000
# Rows on which a swap is tried first.
FEW = 20


@dataclass(frozen=True, slots=True)
class Compared:
    """The people who were compared: their values, the model's score of the favourable side, and the trainer's."""

    model: Model
    values: Floats
    scores: Floats
    served: Floats
    trained: Floats

    def agrees(self, scores: Floats, trained: Floats | None = None) -> bool:
        """Whether these scores are the trainer's, for nearly everybody."""
        other = self.trained if trained is None else trained
        return bool(np.mean(np.abs(scores - other) <= CLOSE) >= NEARLY_ALL)


Reason = Callable[[Compared], Iterator[str]]


def likely_reason(compared: Compared) -> str | None:
    """The first reason that explains nearly every row; None if none does."""
    some = np.linspace(0, len(compared.values) - 1, min(len(compared.values), MOST_TRIED)).astype(np.intp)
    tried = Compared(
        compared.model, compared.values[some], compared.scores[some], compared.served[some], compared.trained[some]
    )
    return next((told for reason in REASONS for told in reason(tried)), None)


def _labels(compared: Compared) -> Iterator[str]:
    """The column holds decisions and not scores."""
    said = np.unique(compared.trained)
    if len(said) == 2 and set(said) <= {0.0, 1.0} and np.mean(compared.served.round() == compared.trained) > 0.5:
        yield "the column holds decisions (0 and 1), not scores: write predict_proba, not predict"


def _other_class(compared: Compared) -> Iterator[str]:
    if not isinstance(compared.model.favourable, FavourableClasses):
        return
    for place, name in enumerate(compared.model.classes):
        if place not in compared.model.favourable.classes and compared.agrees(compared.scores[:, place]):
            hint = "compare those of the favourable one, or turn the classes round in model.toml"
            yield f"the column has the probabilities of the other class, {name!r}: {hint}"


def _activation(compared: Compared) -> Iterator[str]:
    """One side has probabilities, and the other raw scores."""
    for name, turned in (("a sigmoid", _sigmoid(compared.trained)), ("a logit", _logit(compared.trained))):
        if compared.agrees(compared.served, turned):
            where = "the column has raw scores (margins)" if name == "a sigmoid" else "the model serves raw scores"
            yield f"{where}: {name} turns one into the other; look at activation in model.toml, or at the column"
    if compared.scores.shape[1] == 2:
        margin = compared.scores[:, 1] - compared.scores[:, 0]
        for turned in (_sigmoid(margin), _sigmoid(-margin)):
            if compared.agrees(turned):
                yield 'the model serves raw scores: set activation = "softmax" in model.toml'
    twice = _again(compared)
    if twice is not None and compared.agrees(twice):
        yield f'activation = "{compared.model.scorer.activation}" is applied to probabilities: set it to "none"'


def _again(compared: Compared) -> Floats | None:
    """The scores without the activation, if that is what was done twice."""
    model = compared.model
    if model.scorer.activation == "none":
        return None
    if model.scorer.activation == "softmax" and compared.scores.shape[1] == 2:
        # Of shares p and 1 - p a softmax makes a sigmoid of 2p - 1.
        once = (_logit(compared.scores[:, 1]) + 1) / 2
        return favourable_score(model, np.column_stack([1 - once, once]))
    if model.scorer.activation == "sigmoid" and compared.scores.shape[1] == 2:
        shares = _logit(compared.scores[:, 1])
        return favourable_score(model, np.column_stack([1 - shares, shares]))
    return None


def _sigmoid(values: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -500, 500))))


def _logit(values: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(values) - np.log1p(-values))


def _asked(compared: Compared, values: Floats) -> Floats:
    return favourable_score(compared.model, raw_scores(compared.model, values))


def _order(compared: Compared) -> Iterator[str]:
    """Two columns are swapped, all are turned round, or moved by one."""
    names = [feature.name for feature in compared.model.features]
    numbers = [place for place, feature in enumerate(compared.model.features) if feature.type != "category"]
    for one, other in list(combinations(numbers, 2))[:MOST_SWAPS]:
        swapped = compared.values.copy()
        swapped[:, [one, other]] = swapped[:, [other, one]]
        if _fits_few(compared, swapped) and compared.agrees(_asked(compared, swapped)):
            yield f"the order of columns: {names[one]} and {names[other]} are swapped in model.toml"
    if len(numbers) == len(names):
        by_letters = np.argsort(names)
        orders = {
            "turned round": numbers[::-1],
            "sorted by their letters in the graph": np.argsort(by_letters).tolist(),
            "sorted by their letters in model.toml": by_letters.tolist(),
            "moved on by one": [*numbers[1:], numbers[0]],
            "moved back by one": [numbers[-1], *numbers[:-1]],
        }
        for told, order in orders.items():
            if compared.agrees(_asked(compared, compared.values[:, order])):
                yield f"the order of columns: they are {told}"


def _fits_few(compared: Compared, values: Floats) -> bool:
    """Whether it is worth asking about everybody: of a few people nearly all have the trainer's score."""
    few = np.abs(_asked(compared, values[:FEW]) - compared.trained[:FEW]) <= CLOSE
    return bool(np.sum(~few) <= 1)


def _scaling(compared: Compared) -> Iterator[str]:
    """The graph was exported without its scaler: it wants standard scores, or shares of the width."""
    numbers = [place for place, feature in enumerate(compared.model.features) if feature.type != "category"]
    values, known = compared.values, compared.values[:, numbers]
    scalings: Sequence[tuple[str, Floats, Floats]] = (
        ("StandardScaler", np.nanmean(known, axis=0), np.nanstd(known, axis=0)),
        ("MinMaxScaler", np.nanmin(known, axis=0), np.nanmax(known, axis=0) - np.nanmin(known, axis=0)),
    )
    before = _correlation(compared.served, compared.trained)
    for name, middle, spread in scalings:
        scaled = values.copy()
        scaled[:, numbers] = (known - middle) / np.where(spread > 0, spread, 1)
        scores = _asked(compared, scaled)
        # The scaler knew other people than these, so that the scores are close and not the same.
        near = float(np.mean(np.abs(scores - compared.trained) <= 0.02))
        alike = _correlation(scores, compared.trained)
        if compared.agrees(scores) or (near > 0.5 and alike > max(0.98, before + 0.05)):
            yield f"scaling was left out: the graph wants scaled values ({name}); export the whole pipeline"


def _correlation(one: NDArray[Any], other: NDArray[Any]) -> float:
    """0 where one of them is the same for everybody."""
    return float(np.corrcoef(one, other)[0, 1]) if np.std(one) > 0 and np.std(other) > 0 else 0.0


def _missing(compared: Compared) -> Iterator[str]:
    """Only people with a missing value differ."""
    lacking = np.isnan(compared.values).any(axis=1)
    differ = np.abs(compared.served - compared.trained) > CLOSE
    if lacking.any() and differ[lacking].mean() > 0.5 and not differ[~lacking].any():
        yield "missing values: only people with one differ; look at default, takes_missing and missing_codes"


def _category(compared: Compared) -> Iterator[str]:
    """Only people of some categories differ."""
    differ = np.abs(compared.served - compared.trained) > CLOSE
    for place, feature in enumerate(compared.model.features):
        if feature.type != "category":
            continue
        shares = [differ[compared.values[:, place] == at] for at in range(len(feature.categories))]
        means = [float(share.mean()) for share in shares if len(share)]
        if means and max(means) > 0.9 and min(means) < 0.01:
            yield f"categories of {feature.name}: only some of them differ; look at the order of categories and codes"


def _float32(compared: Compared) -> Iterator[str]:
    """A few rows differ, and by little: a split of a tree falls on the other side in float32."""
    distance = np.abs(compared.served - compared.trained)
    if np.mean(distance > CLOSE) <= 0.05 and np.quantile(distance, 0.95) <= CLOSE:
        yield "float32: few people differ; at a split of a tree float32 rounds their values to the other side"
    elif distance.max() <= 0.01 and _correlation(compared.served, compared.trained) > 0.999:
        yield "float32 or rounding: all scores are close; the trainer used float64, or values with more digits"


def _monotone(compared: Compared) -> Iterator[str]:
    """The same order of people, by other numbers: another version or a calibration."""
    served, trained = (np.argsort(np.argsort(scores)) for scores in (compared.served, compared.trained))
    alike = _correlation(served, trained)
    if alike > 0.999:
        yield "the order of people is the same, but not the scores: a calibration, or other raw scores"
    elif alike < -0.999:
        yield "the scores run the other way round: probabilities of the other class"


REASONS: tuple[Reason, ...] = (
    _labels,
    _other_class,
    _activation,
    _order,
    _missing,
    _category,
    _float32,
    _scaling,
    _monotone,
)
