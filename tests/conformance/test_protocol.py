"""Schemathesis asks all that the Open Inference Protocol's own document allows, as MLServer publishes it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.live_server import ROOT, LiveServer
from tests.support.scale import scaled
from tests.support.seeds import Seeds

HERE = Path(__file__).parent
MLSERVER = Path(os.environ.get("TEST_MLSERVER", ROOT / ".venv-mlserver"))
# Of language models.
OTHERS = ("infer_stream", "generate", "generate_stream")


def document() -> dict[str, Any]:
    """The published document, about a model that is there, without what only language models have."""
    found = sorted(MLSERVER.glob("lib/python*/site-packages/mlserver/rest/openapi/dataplane.json"))
    if not found:
        pytest.skip("MLServer is not installed: make .venv-mlserver/ready")
    published = json.loads(found[0].read_text())
    paths = {path: said for path, said in published["paths"].items() if not path.endswith(OTHERS)}
    names = {"model_name": "hcv", "model_version": "1.0.0"}
    for said in paths.values():
        for parameter in said.get("parameters", ()):
            parameter["schema"]["enum"] = [names[parameter["name"]]]
    # `bytes` is no type of JSON Schema.
    published["components"]["schemas"]["TensorData"] = {"type": "array", "items": {"type": "number"}}
    return {**published, "paths": paths}


@pytest.mark.slow
def test_every_answer_is_as_the_protocol_says(server: LiveServer, tmp_path: Path):
    (tmp_path / "dataplane.json").write_text(json.dumps(document()))
    (seed,) = Seeds(1, 20261118)
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(HERE / "schemathesis.toml"), "run"]
    asked = ["--seed", str(seed), "--max-examples", str(scaled(20)), "--mode", "positive"]
    done = subprocess.run(
        [*command, "dataplane.json", "--url", server.url, "--report-ndjson-path", "report.ndjson", *asked],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-1000:]
    statuses = re.findall(r'"status_code":\s*(\d+)', (tmp_path / "report.ndjson").read_text())
    assert {"200", "400"} <= set(statuses)
