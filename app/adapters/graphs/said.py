"""What a `model.toml` says for people alone: the words of its field, and what is plausible."""

from typing import Literal

from pydantic import Field, model_validator

from app.adapters.files.toml_files import Entry, Finite


class WordsEntry(Entry):
    """What people in the model's field call things; the page speaks so."""

    person: str = Field(default="person", min_length=1)
    decision: str = Field(default="decision", min_length=1)
    range: str = Field(default="normal range", min_length=1)


class BoundsEntry(Entry):
    """What a person may plausibly have: beyond it the page asks, and an answer warns or is refused."""

    low: Finite | None = None
    high: Finite | None = None
    outside: Literal["warn", "refuse"] = "warn"

    @model_validator(mode="after")
    def _is_an_interval(self) -> "BoundsEntry":
        if self.low is None and self.high is None:
            raise ValueError("bounds must have low, high or both")
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise ValueError("low must be below high")
        return self
