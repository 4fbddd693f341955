"""Fixtures that more than one room of the tests needs."""

from collections.abc import Generator, Iterator

import httpx
import hypothesis
import pytest

from tests.support.live_server import LiveServer, live_server
from tests.support.scale import SCALE, scaled
from tests.support.seeds import SEED, Seeds
from tests.support.stores import address, database_server, new_address  # noqa: F401  # fixtures

# How long an example takes depends on what else the machine does.
hypothesis.settings.register_profile(
    "tests", deadline=None, max_examples=scaled(100), suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("tests")


def pytest_configure(config: pytest.Config) -> None:
    """Hypothesis draws by the same number as every other random test."""
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = SEED


def pytest_runtest_setup() -> None:
    Seeds.reached = None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failure says how to draw the same problems again."""
    report = yield
    if report.failed:
        reached = "" if Seeds.reached is None else f"\nseed {Seeds.reached}"
        again = f"TEST_SEED={SEED} TEST_SCALE={SCALE} pytest '{item.nodeid}'{reached}"
        report.sections.append(("Run it again", again))
    return report


@pytest.fixture(scope="session")
def server() -> Iterator[LiveServer]:
    """The shipped models, served by a real process."""
    with live_server() as running:
        yield running


@pytest.fixture(scope="session")
def client(server: LiveServer) -> Iterator[httpx.Client]:
    with server.client() as connected:
        yield connected
