"""Answers that come in one piece: predictions, and the picture of all subsets."""

from typing import Any

from pydantic import BaseModel, Field

from app.api.describing.shared import TARGET, Described, ModelIdentity, Prediction, RegistryIdentity
from app.core.search.all_subsets import Role


class SinglePrediction(BaseModel):
    """What the model says of one instance."""

    model: ModelIdentity
    target: dict[str, Any]
    prediction: Prediction


class SeveralPredictions(BaseModel):
    """What the model says of several instances, in their order."""

    model: ModelIdentity
    target: dict[str, Any]
    predictions: list[Prediction]


class SubsetShown(Described):
    """A subset of the movable features, moved to their targets."""

    features: list[str] = Field(description="in the model's order")
    score: float | None = Field(description="score of the favourable side; null if the model gives no finite score")
    favourable: bool = Field(
        description="false if there is no score; if plans are required to hold, whether this one does"
    )
    allowed: bool = Field(description="whether it satisfies every constraint")
    role: Role | None = Field(
        description="minimal: an answer of /counterfactuals; maximal_failing: allowed and not favourable, while all of "
        "its allowed proper supersets are favourable"
    )


class Subsets(Described):
    """All subsets of the movable features, by size and then by positions; the first is the instance as it stands."""

    model: ModelIdentity
    normal_ranges: RegistryIdentity | None
    target: dict[str, Any] = TARGET
    features: list[str] = Field(description="the movable features, in the model's order")
    subsets: list[SubsetShown]
