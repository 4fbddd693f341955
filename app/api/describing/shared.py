"""Objects that more than one kind of answer holds."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Value = float | str | None

TARGET = Field(
    description="what counts as favourable; compared_as names the type in which scores "
    "are compared, and the threshold or interval in that type"
)


class Described(BaseModel):
    """An object of an answer. These classes describe what is sent; they do not make it."""

    model_config = ConfigDict(extra="forbid")


class Health(Described):
    """The state of the service."""

    status: Literal["alive", "ready"]


class ProblemField(Described):
    """A field that was refused, and how to fix it."""

    field: str
    message: str
    line: int | None = Field(default=None, ge=1, description="line of a mistake in a formula, from 1; absent otherwise")
    column: int | None = Field(
        default=None, ge=1, description="column of a mistake in a formula, in characters from 1; absent otherwise"
    )


class Problem(Described):
    """Why a request was refused (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    instance: str | None = Field(default=None, description="urn:flipset:request: and the request's X-Request-ID")
    errors: list[ProblemField]


class ModelIdentity(BaseModel):
    """Which model it was, to the last bit."""

    name: str
    version: str
    sha256: str | None = Field(description="of model.onnx; null where the model lives elsewhere")
    description_sha256: str = Field(description="of model.toml")


class RegistryIdentity(Described):
    """The registry that answered, with its digest."""

    name: str
    version: str
    sha256: str = Field(description="of the registry's file")


class Judgement(BaseModel):
    """The same of a row that no plan leads to."""

    label: str | None
    score: float | None = Field(description="of the favourable side; null if the model gives no finite score")
    favourable: bool


class Prediction(BaseModel):
    """The decision, and the score of the favourable side."""

    label: str | None
    score: float
    favourable: bool
