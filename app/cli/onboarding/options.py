"""The options that commands about a table of people share, and how they fail. They import no optional group."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer

from app.adapters.files.flaws import BrokenFiles
from app.cli.environment import fail
from app.cli.register_options import fail_without

People = Annotated[Path, typer.Argument(help="the people: Parquet, CSV or NDJSON, a file or a folder of files")]
Outcome = Annotated[str | None, typer.Option(help="column with the outcome of each person")]
Favourable = Annotated[
    list[str] | None,
    typer.Option(help="the favourable value of that column; repeat it for more; '<=5' or '>=5' for a number"),
]
By = Annotated[
    list[str] | None,
    typer.Option(help="groups that may need ranges of their own: COLUMN or COLUMN:CUT,CUT; repeat it for more"),
]
Policy = Annotated[
    bool, typer.Option("--policy", help="lenders' limits: the value at which the share of the refused turns")
]
Upper = Annotated[list[str] | None, typer.Option(help="feature with an upper limit only; repeat it for more")]
Lower = Annotated[list[str] | None, typer.Option(help="feature with a lower limit only; repeat it for more")]
Fixed = Annotated[
    list[str] | None, typer.Option(help="feature that nobody should be told to change, such as age; repeat it for more")
]
Fence = Annotated[float, typer.Option(help="interquartile ranges beyond which a value is an outlier; Horn takes 1.5")]
MoveTo = Annotated[
    Literal["nearest", "midpoint"] | None,
    typer.Option(help="where changed values go; default: the middle, or the limit if there is only one"),
]
Force = Annotated[bool, typer.Option("--force", help="replace what exists already")]
Form = Annotated[
    Literal["parquet", "csv", "ndjson"] | None,
    typer.Option("--format", help="format of the files, if their names do not end in it"),
]
Features = Annotated[
    list[str] | None,
    typer.Option(help="the columns that are features, in the model's order: NAME, or several separated by commas"),
]


@contextmanager
def told() -> Iterator[None]:
    """End the command with one line if the table, the graph or an option does not do, or a package is lacking."""
    try:
        from app.onboarding.failures import Unfit  # noqa: PLC0415

        try:
            yield
        except Unfit as error:
            fail(str(error))
    except BrokenFiles as error:
        fail(str(error))
    except ModuleNotFoundError as error:
        fail_without(error)


def names_in(given: list[str] | None) -> list[str]:
    """Names that may be separated by commas, or given one by one."""
    return [name.strip() for text in given or () for name in text.split(",") if name.strip()]
