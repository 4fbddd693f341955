"""`flipset ranges`: normal ranges learned from people, and verified against them."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.environment import read_settings
from app.cli.onboarding import options

ranges_cli = typer.Typer(no_args_is_help=True, help="Learn normal ranges from a table of people, or verify them.")


@ranges_cli.command()
def learn(  # noqa: PLR0913, PLR0917  # an argument for each option
    name: Annotated[str, typer.Argument(help="name of the registry to write")],
    people: options.People,
    outcome: options.Outcome = None,
    favourable: options.Favourable = None,
    by: options.By = None,
    model: Annotated[
        str | None, typer.Option(help="served model whose features these are; default: the one of this name, if any")
    ] = None,
    features: options.Features = None,
    policy: options.Policy = False,
    upper: options.Upper = None,
    lower: options.Lower = None,
    fixed: options.Fixed = None,
    fence: options.Fence = 3.0,
    move_to: options.MoveTo = None,
    form: options.Form = None,
    force: options.Force = False,
) -> None:
    """Learn reference intervals (CLSI EP28-A3c), or lenders' limits, and write them as a registry."""
    with options.told():
        from app.cli.onboarding.learning import Asked, learn_registry  # noqa: PLC0415
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
        asked = Asked(name, people, form, outcome, favourable or (), model, options.names_in(features), force)
        learn_registry(read_settings(), asked, wanted)


@ranges_cli.command()
def verify(  # an argument for each option
    name: Annotated[str, typer.Argument(help="name of the registry")],
    people: options.People,
    outcome: options.Outcome = None,
    favourable: options.Favourable = None,
    by: options.By = None,
    out: Annotated[Path | None, typer.Option(help="HTML page to write")] = None,
    form: options.Form = None,
) -> None:
    """Tell whether a registry fits these people: who lies outside, by group, and units that look wrong."""
    with options.told():
        from app.cli.onboarding.verifying import Asked, verify_registry  # noqa: PLC0415

        verify_registry(read_settings(), Asked(name, people, form, outcome, favourable or (), by or (), out))
