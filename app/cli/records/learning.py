"""The command that learns from records."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from app.cli.environment import fail, from_one
from app.cli.records.opening import Address, opened

# Below this, intervals are so wide that they say nothing, and a weight might tell of one person.
LEAST = 50


def learn(
    model: Annotated[str, typer.Argument(help="name of the model")],
    page: Annotated[Path | None, typer.Option(help="also write a page for people, as HTML")] = None,
    least: Annotated[int, typer.Option(callback=from_one(), help="how many people must have chosen a plan")] = LEAST,
    store: Address = None,
) -> None:
    """Print suggested weights for a registry: how hard each change is, from the plans that people chose."""
    # Imported here: numpy takes a while to load.
    from app.learning.choices import told_by  # noqa: PLC0415
    from app.learning.logit import hardness_of  # noqa: PLC0415
    from app.learning.page import page as made  # noqa: PLC0415
    from app.learning.suggesting import weights_toml  # noqa: PLC0415

    with opened(store) as records:
        told = told_by(((record, records.feedback_on(record.id)) for record in records.all()), model)
    if not told.records:
        fail(f"{model}: the store has no records of a model of this name; `flipset records list` shows what it has.")
    if len(told.choices) < least:
        fail(f"People who chose among the plans of {model}: {len(told.choices)}; at least {least} are needed.")
    hardness = hardness_of(told.choices)
    print(weights_toml(hardness, len(told.choices)), end="")
    if page is not None:
        try:
            page.write_text(made(model, told, hardness), encoding="utf-8")
        except OSError as error:
            fail(f"{page}: {error.strerror}")
        print(f"Written: {page}", file=sys.stderr)
