"""The TypeScript client: the suite of test_clients.py in node's own runner, and its types."""

import os
from xml.etree import ElementTree

import pytest

from tests.clients import node, test_clients
from tests.clients.made_up import MadeUpService, served_on_a_port
from tests.support.live_server import LiveServer, reserved_port

NAMES = [name.removeprefix("test_").replace("_", " ") for name in vars(test_clients) if name.startswith("test_")]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def results(real_server: LiveServer) -> dict[str, ElementTree.Element]:
    """What came of each test, by its name."""
    node.needs("node")
    command = ["node", "--expose-gc", "--test", "--test-reporter=junit", "test/client.test.js"]
    with served_on_a_port(MadeUpService()) as made_up, reserved_port() as port:
        places = {"MADE_UP_URL": made_up, "REAL_URL": real_server.url, "NOWHERE_URL": f"http://127.0.0.1:{port}"}
        report = node.run_whatever(*command, env={**os.environ, **places})
    cases = ElementTree.fromstring(report).iter("testcase")  # noqa: S314  # node has just written it
    return {str(case.get("name")): case for case in cases}


@pytest.mark.parametrize("name", NAMES)
def test_the_suite_of_the_python_clients_holds(results: dict[str, ElementTree.Element], name: str):
    assert name in results, sorted(results)
    failure = results[name].find("failure")
    assert failure is None, "".join(failure.itertext())


def test_the_suite_has_no_other_tests(results: dict[str, ElementTree.Element]):
    assert set(results) == set(NAMES)


def test_the_compiler_finds_nothing_wrong():
    """`tsc --strict` reads the client, and a program of a user in test/typed.ts."""
    assert node.run(str(node.install() / "tsc")) == ""
