"""`flipset init`: from a graph and a table to a served model."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from app.cli.environment import read_settings
from app.cli.onboarding import options


def init(  # noqa: PLR0913, PLR0917  # an argument for each option
    name: Annotated[str, typer.Argument(help="name of the model, as it will stand in its address")],
    graph: Annotated[Path, typer.Argument(metavar="MODEL.ONNX", help="the exported model")],
    people: options.People,
    outcome: Annotated[str, typer.Option(help="column with the outcome of each person")],
    favourable: Annotated[
        list[str],
        typer.Option(help="the favourable value of that column; repeat it for more; '<=5' or '>=5' for a number"),
    ],
    by: options.By = None,
    context: Annotated[
        list[str] | None, typer.Option(help="columns that are no features: NAME, or several separated by commas")
    ] = None,
    features: options.Features = None,
    tensor: Annotated[str | None, typer.Option(help="output with the scores, if there are several")] = None,
    threshold: Annotated[
        float | None, typer.Option(help="score from which on a decision is favourable; default: its class must win")
    ] = None,
    outside: Annotated[
        Literal["refuse", "warn"], typer.Option(help="what happens to values outside of the plausible bounds")
    ] = "refuse",
    policy: options.Policy = False,
    upper: options.Upper = None,
    lower: options.Lower = None,
    fixed: options.Fixed = None,
    fence: options.Fence = 3.0,
    move_to: options.MoveTo = None,
    form: options.Form = None,
    force: options.Force = False,
) -> None:
    """Describe a model, learn its ranges and plausible values from people, and make up examples: ready to serve."""
    with options.told():
        from app.cli.onboarding.initialising import Source, initialise  # noqa: PLC0415
        from app.onboarding.drafting.drafts import Request  # noqa: PLC0415
        from app.onboarding.ranges import Wanted  # noqa: PLC0415

        wanted = Wanted(
            by=by or (),
            upper=options.names_in(upper),
            lower=options.names_in(lower),
            fixed=options.names_in(fixed),
            fence=fence,
            is_policy=policy,
            move_to=move_to,
        )
        asked = Request(name, graph, options.names_in(context), options.names_in(features), tensor, threshold, outside)
        initialise(read_settings(), asked, Source(people, form, outcome, favourable), wanted, force)
