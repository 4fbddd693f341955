"""Schemathesis asks a real server all that its document allows, and much that it does not.

No answer is a defect of ours, and each has a status, a content type and a body that the document announces.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import httpx

from tests.support.live_server import ROOT, LiveServer
from tests.support.scale import scaled
from tests.support.seeds import Seeds

HERE = Path(__file__).parent
KNOWN_NAMES = {
    "model": ["synthetic"],
    "registry": ["synthetic"],
    "features": ["A", "B", "C", "D"],
    "formulas": ["A xor B", "not C", "A -> (B and D)", "at_most(1, A, B, C)", "A or", "E"],
}


def asked_by_schemathesis(server: LiveServer, folder: Path, *options: str, **variables: str) -> dict[int, int]:
    """Run it against the server; how often each status came, once it has found nothing wrong."""
    report = folder / "report.ndjson"
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(HERE / "schemathesis.toml"), "run"]
    (seed,) = Seeds(1, 20261116)
    asked = ["--seed", str(seed), "--max-examples", str(scaled(6))]
    done = subprocess.run(
        [*command, f"{server.url}/openapi.json", "--report-ndjson-path", str(report), *asked, *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "SCHEMATHESIS_HOOKS": "tests.conformance.hooks", **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-1000:]
    operations = sum(map(len, httpx.get(f"{server.url}/openapi.json").json()["paths"].values()))
    assert f"Tested: {operations}" in done.stdout
    statuses = [int(status) for status in re.findall(r'"status_code":\s*(\d+)', report.read_text())]
    return {status: statuses.count(status) for status in sorted(set(statuses))}


def test_every_answer_is_as_the_document_says(server: LiveServer, tmp_path: Path):
    assert {200, 404, 422} <= set(asked_by_schemathesis(server, tmp_path))


def test_so_is_every_answer_about_names_that_are_known(server: LiveServer, tmp_path: Path):
    """Most requests of the first run name models and features that are not there; most of these come to a search."""
    # What the narrowed document forbids is not what the server refuses: only what it allows is asked.
    known = json.dumps(KNOWN_NAMES)
    statuses = asked_by_schemathesis(server, tmp_path, "--mode", "positive", KNOWN_NAMES=known)
    assert statuses[200] > scaled(20)
