"""Causes as they are written: what is normal afterwards, and what moves along."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, PlainValidator, WithJsonSchema

from app.adapters.files.numbers import check_number

NOT_IN_A_FILE = "cannot say even_if_immutable: only the file of a model or a registry can"


def _factor(value: Any) -> float | Literal["same"]:
    if isinstance(value, str) and value != "same":
        raise ValueError("must be a number, or the text same")
    number = 1.0 if value == "same" else check_number(value)
    if number == 0:
        raise ValueError("must not be 0: an effect that does not move needs no cause")
    return "same" if isinstance(value, str) else number


class AmountEntry(BaseModel):
    """An effect that moves along with the cause: by as much, or by a multiple of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    feature: str
    change: Annotated[
        float | Literal["same"],
        PlainValidator(_factor),
        # As it was written: 2 is not 2.0.
        PlainSerializer(lambda change: change),
        WithJsonSchema({"anyOf": [{"const": "same"}, {"type": "number"}]}),
    ] = Field(description="same: by as much as the cause moves; a number: by so many times as much")
    even_if_immutable: bool = Field(default=False, description="in a file: it may move although it is immutable")


def _effect(value: Any) -> Any:
    """One of the two forms, so that a mistake is told of the form that was meant."""
    if isinstance(value, str | AmountEntry):
        return value
    if not isinstance(value, dict):
        raise ValueError("must be the name of a feature, or an object with feature and change")
    return AmountEntry.model_validate(value)


def _as_written(effect: str | AmountEntry) -> str | dict[str, Any]:
    return effect if isinstance(effect, str) else effect.model_dump(exclude_defaults=True)


Effect = Annotated[
    str | AmountEntry,
    PlainValidator(_effect),
    PlainSerializer(_as_written),
    WithJsonSchema({"anyOf": [{"type": "string"}, AmountEntry.model_json_schema()]}),
]


class CausalEntry(BaseModel):
    """If the cause changes, every effect is normal afterwards, or moves along with it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cause: str
    effects: list[Effect] = Field(min_length=1)

    @property
    def names(self) -> list[str]:
        """The effects by their names."""
        return [effect if isinstance(effect, str) else effect.feature for effect in self.effects]

    @property
    def lets_the_immutable_move(self) -> bool:
        return any(isinstance(effect, AmountEntry) and effect.even_if_immutable for effect in self.effects)
