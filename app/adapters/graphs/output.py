"""The table `[output]` of a `model.toml`."""

from typing import Literal

from pydantic import model_validator

from app.adapters.files.fields import FavourableField
from app.adapters.files.toml_files import Entry, Finite
from app.core.ranges import NormalRange

# No score of a float32 model is larger.
MOST_THRESHOLD = 3e38


class OutputEntry(Entry):
    """What the model says, and what of it is favourable."""

    kind: Literal["classification", "regression"]
    tensor: str | None = None
    activation: Literal["none", "softmax", "sigmoid"] = "none"
    classes: list[str] = []
    favourable: FavourableField
    threshold: Finite | None = None

    @model_validator(mode="after")
    def _fits_its_kind(self) -> "OutputEntry":
        flaw = self._classes_flaw() if self.kind == "classification" else self._interval_flaw()
        if flaw:
            raise ValueError(flaw)
        return self

    def _classes_flaw(self) -> str | None:
        if len(self.classes) < 2 or len(set(self.classes)) < len(self.classes):
            return "classes must name at least two classes, each once"
        if isinstance(self.favourable, NormalRange):
            return "favourable must be a list of classes"
        if unknown := [name for name in self.favourable if name not in self.classes]:
            return f"favourable names {unknown[0]!r}, which is not one of the classes"
        if len(set(self.favourable)) < len(self.favourable) or not 0 < len(self.favourable) < len(self.classes):
            return "favourable must name some of the classes, each once, and leave at least one out"
        if self.threshold is not None and abs(self.threshold) > MOST_THRESHOLD:
            return "threshold is too large for any score"
        return None

    def _interval_flaw(self) -> str | None:
        if self.classes or self.threshold is not None:
            return "a regression has neither classes nor a threshold"
        if not isinstance(self.favourable, NormalRange):
            return "favourable must be an interval: { low = ..., high = ... }"
        return None
