"""Both kinds of stores, real ones: the same tests run on each."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.postgres import Postgres, postgres

KINDS = ("sqlite", "postgresql")


@pytest.fixture(scope="session")
def database_server() -> Iterator[Postgres]:
    with postgres() as server:
        yield server


@pytest.fixture(params=KINDS)
def new_address(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Addresses of stores that are empty, one each time."""
    if request.param == "sqlite":
        numbers = iter(range(100))
        return lambda: f"sqlite:///{tmp_path / f'records{next(numbers)}.db'}"
    server: Postgres = request.getfixturevalue("database_server")
    return server.new_database


@pytest.fixture
def address(new_address: Callable[[], str]) -> str:
    return new_address()
