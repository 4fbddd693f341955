"""Names of models and registries, before a file has them."""

from app.adapters.graphs.models import ADDRESS
from app.onboarding.failures import Unfit


def check_name(name: str) -> None:
    """`Unfit` if a model could not be served under this name."""
    if not ADDRESS.fullmatch(name):
        raise Unfit("the name is part of an address: use only letters, digits and . _ - @")
