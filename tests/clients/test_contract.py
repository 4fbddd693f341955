"""The Python client keeps up with the service: classes as in /openapi.json, an error for every refusal."""

import ast
import dataclasses
import inspect
import json
import pickle
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import flipset_client
import pytest
from flipset_client import (
    AnswerFailed,
    AsyncClient,
    Busy,
    Client,
    CutStream,
    Erased,
    FlipsetError,
    InvalidRequest,
    NotAllowed,
    NotFound,
    Problem,
    StillSearching,
    TimedOut,
    Unexpected,
    Unreachable,
)
from flipset_client.errors import refusal
from flipset_client.exchanges import Patience, retry_after

from app.api.problems import TABLE, UNEXPECTED, problem
from app.main import create_app
from app.settings import Settings
from tests.support.live_server import ROOT

SOURCE = ROOT / "clients/python/src/flipset_client"
# What the client calls by the name of the schema.
CLASSES = {
    name: kind
    for name, kind in vars(flipset_client).items()
    if dataclasses.is_dataclass(kind) and name != "WholeAnswer"
}
EXPECTED = {401: NotAllowed, 403: NotAllowed, 404: NotFound, 410: Erased, 429: Busy, 503: Busy, 500: Unexpected}


@pytest.fixture(scope="module")
def schemas() -> dict[str, Any]:
    settings = Settings(models_dir=ROOT / "models", normal_ranges_dir=ROOT / "normal_ranges")
    return create_app(settings).openapi()["components"]["schemas"]


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_a_class_has_the_fields_of_its_schema(schemas: dict[str, Any], name: str):
    """If the service says something new, the client's class gets a field; a default, if it may be absent."""
    fields = {field.name.rstrip("_"): field for field in dataclasses.fields(CLASSES[name])}
    described = schemas[name]
    # The class itself says which line it is.
    told = set(described["properties"]) - ({"type"} if "const" in described["properties"].get("type", {}) else set())
    assert set(fields) == told
    optional = {key for key, field in fields.items() if field.default is not dataclasses.MISSING}
    assert optional >= told - set(described["required"])


def test_every_line_has_a_class(schemas: dict[str, Any]):
    lines = [part["$ref"].rpartition("/")[2] for part in schemas["Line"]["oneOf"]]
    assert set(lines) - {"ErrorLine"} <= set(CLASSES)


def test_a_question_has_a_keyword_for_everything_that_can_be_asked(schemas: dict[str, Any]):
    """In TypeScript the types see to it, but for what may stand alone."""
    named = set(inspect.signature(Client.counterfactuals).parameters) - {"model", "more"}
    alone = {*schemas["ConstraintsEntry"]["properties"], *schemas["LimitsBody"]["properties"]}
    assert named == {*schemas["CounterfactualsRequest"]["properties"], *alone}
    known = (ROOT / "clients/typescript/src/client.js").read_text().partition("const INSIDE")[2].partition("};")[0]
    assert set(re.findall(r'"(\w+)"', known)) == alone


def test_every_schema_has_a_name_that_a_language_can_have(schemas: dict[str, Any]):
    """Two enumerations of one name get others, which name modules or hold a hyphen."""
    assert [name for name in schemas if not name.isidentifier() or "__" in name] == []


def test_every_refusal_of_the_service_has_an_error():
    for status in {int(kind.status) for kind in (*TABLE.values(), UNEXPECTED)}:
        assert type(refusal(status, None, None)) is EXPECTED.get(status, InvalidRequest)


def test_every_error_is_drawn_in_the_tree():
    errors = [
        kind for kind in vars(flipset_client).values() if isinstance(kind, type) and issubclass(kind, FlipsetError)
    ]
    for source in (SOURCE / "errors.py", ROOT / "clients/typescript/src/errors.js"):
        drawn = source.read_text().split("class ")[0]
        assert [error.__name__ for error in errors if error.__name__ not in drawn] == []


def test_the_service_is_imported_in_one_place_and_only_when_it_is_asked_for():
    importing = []
    for file in SOURCE.glob("*.py"):
        tree = ast.parse(file.read_text())
        named = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
        named += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
        importing += [file.name for name in named if name.partition(".")[0] == "app"]
    assert set(importing) == {"local.py"}
    code = "import sys, flipset_client; assert 'app' not in sys.modules and 'pandas' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": str(SOURCE.parent)})


def test_what_is_made_from_something_else_is_up_to_date():
    command = [sys.executable, "clients/typescript/generate.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(ROOT)})
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("7", 7.0),
        ("0", 0.0),
        ("-3", 0.0),
        ("soon", None),
        ("1.5", 1.5),
        ("Mon, 01 Jan 99999999999999999999 00:00:00 GMT", None),
    ],
)
def test_the_time_to_wait_is_read_as_it_is_written(header: str | None, seconds: float | None):
    assert retry_after(header) == seconds


def test_the_time_to_wait_may_be_a_date():
    assert retry_after(format_datetime(datetime.now(UTC) - timedelta(hours=1))) == 0
    assert 3000 < (retry_after(format_datetime(datetime.now(UTC) + timedelta(hours=1))) or 0) <= 3600


def test_waiting_obeys_the_service_and_is_bounded():
    patience = Patience(retries=3, longest_wait=10)
    assert patience.wait(Busy(503, None, 7.0), 0, 0) == 7.0
    assert patience.wait(Busy(503, None, 7.0), 1, 7.0) is None
    assert [patience.wait(Busy(429), attempt, 0) for attempt in range(5)] == [0.5, 1.0, 2.0, None, None]
    assert patience.wait(InvalidRequest(422, None, 1.0), 0, 0) is None


def test_a_refusal_reads_like_one_in_the_terminal():
    told = {**problem(ValueError()), "errors": [{"field": "a", "message": "is missing"}]}
    error = refusal(422, flipset_client.reading.read(flipset_client.Problem, json.loads(json.dumps(told))), None)
    assert str(error).endswith("\n  a: is missing")


def test_what_the_service_said_cannot_be_changed():
    assert [name for name, kind in CLASSES.items() if not kind.__dataclass_params__.frozen] == []


def test_the_versions_are_one():
    package = json.loads((ROOT / "clients/typescript/package.json").read_text())
    assert package["version"] == flipset_client.__version__


def test_no_lock_file_names_where_packages_come_from():
    assert not list(Path(ROOT / "clients").glob("*/*lock*"))


TOLD = Problem("urn:flipset:problem:busy", "It is busy", 503, "Come back later.")


@pytest.mark.parametrize(
    "error",
    [
        Busy(503, TOLD, 7.0),
        Unexpected(502),
        AnswerFailed(TOLD),
        CutStream(),
        CutStream("Why."),
        TimedOut(),
        Unreachable("Why."),
        StillSearching(),
    ],
)
def test_an_error_reaches_another_process_as_it_is(error: FlipsetError):
    """A pool of processes hands errors on, and breaks down over one that cannot be made again."""
    again = pickle.loads(pickle.dumps(error))  # noqa: S301  # it has just been written
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


def test_one_client_has_what_the_other_has():
    waiting, awaiting = ({name for name in vars(kind) if name[0] != "_"} for kind in (Client, AsyncClient))
    assert waiting - awaiting == {"local"}
    assert awaiting <= waiting


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize("key", ["flipset_secret\n", " flipset_secret", "flipset\r\nsecret", "flipset_sécret"])
def test_a_key_that_no_header_can_hold_is_refused_and_not_quoted(kind: Any, key: str):
    with pytest.raises(ValueError, match="the key holds") as refused:
        kind("http://127.0.0.1:8000", key=key)
    assert "cret" not in str(refused.value)
