"""Servers that others wrote, in environments of their own: .ci/run makes them, and without them this is skipped."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from app.adapters.catalog import load_catalog
from app.answering.service import Service
from app.api.problems import problem
from app.asking.parsing import check_body
from app.asking.schemas import CounterfactualsRequest
from app.settings import Settings
from app.writing.forms import OneObject
from app.writing.lines import Presenter
from tests.support.live_server import ROOT, LiveServer, reserved_port
from tests.support.predictors import write_remote
from tests.support.scale import scaled
from tests.support.seeds import Seeds
from tests.support.waiting import eventually

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
RANGES = ROOT / "normal_ranges"
MLSERVER = Path(os.environ.get("TEST_MLSERVER", ROOT / ".venv-mlserver")) / "bin"
KSERVE = Path(os.environ.get("TEST_KSERVE", ROOT / ".venv-kserve")) / "bin"
FEATURES = ("ALB", "ALP", "ALT", "AST", "BIL", "CHE", "CHOL", "CREA", "GGT", "PROT")
USUAL = np.array([41.0, 68.0, 26.0, 30.0, 9.0, 8.2, 5.4, 80.0, 30.0, 72.0])


def needs(folder: Path, name: str) -> None:
    if not (folder / "python").exists():
        pytest.skip(f"{name} is not installed: make {folder.parent.name}/ready")


def person(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    values = np.round(USUAL * rng.lognormal(0, 0.5, len(USUAL)), 1)
    context = {"sex": str(rng.choice(["female", "male"])), "age": int(rng.integers(20, 80))}
    return {"instance": dict(zip(FEATURES, values.tolist(), strict=True)), "context": context}


@contextmanager
def running(command: Sequence[str | Path], ready: str, **environment: str) -> Iterator[None]:
    graph = {"GRAPH": str(ROOT / "models/hcv/model.onnx")}
    process = subprocess.Popen(
        [*map(str, command)],
        env={**os.environ, **graph, **environment, "PYTHONPATH": str(HERE)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )

    def is_ready() -> bool:
        assert process.poll() is None, "it did not start"
        try:
            return httpx.get(ready, timeout=10).status_code == 200
        except httpx.TransportError:
            return False

    try:
        eventually(is_ready)
        yield
    finally:
        # The group that was started here: it has workers of its own.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def answers(service: Service, body: dict[str, Any]) -> dict[str, Any]:
    with service.answering(check_body(body, CounterfactualsRequest), service.model("hcv")) as answer:
        present = Presenter(answer.question, OneObject(), problem).text
        found = json.loads("".join(map(present, answer.events())))
    for changing in ("elapsed_ms", "engine", "proof", "model_calls", "model_rows"):
        found["summary"].pop(changing)
    found["start"].pop("model")
    return found


def compare(models: Path) -> int:
    """How many people get answers; all of them the same as at home."""
    home = Service(Settings(), load_catalog(ROOT / "models", RANGES))
    elsewhere = Service(Settings(), load_catalog(models, RANGES))
    count = 0
    for seed in Seeds(scaled(20)):
        asked = person(seed)
        at_home = answers(home, asked)
        assert answers(elsewhere, asked) == at_home
        count += bool(at_home["counterfactuals"])
    home.close()
    elsewhere.close()
    return count


def test_mlserver_gives_the_answers_of_the_model_at_home(tmp_path: Path):
    needs(MLSERVER, "MLServer")
    (tmp_path / "server").mkdir()
    with reserved_port() as port, reserved_port() as grpc, reserved_port() as metrics:
        ports = {"http_port": port, "grpc_port": grpc, "metrics_port": metrics, "host": "127.0.0.1"}
        (tmp_path / "server/settings.json").write_text(json.dumps({**ports, "parallel_workers": 0, "debug": False}))
        model = {"name": "hcv", "implementation": "runtime.OnnxRuntime", "parameters": {"version": "v1"}}
        (tmp_path / "server/model-settings.json").write_text(json.dumps(model))
        url = f"http://127.0.0.1:{port}"
        with running([MLSERVER / "mlserver", "start", tmp_path / "server"], f"{url}/v2/models/hcv/ready"):
            write_remote(tmp_path / "models/hcv", url, model="hcv", input="rows", timeout=60)
            assert compare(tmp_path / "models") > 0


def test_kserves_own_server_gives_them_too_in_binary_tensors(tmp_path: Path):
    needs(KSERVE, "KServe")
    with reserved_port() as port:
        url = f"http://127.0.0.1:{port}"
        with running([KSERVE / "python", HERE / "runtime.py", str(port)], f"{url}/v2/models/hcv/ready"):
            write_remote(tmp_path / "models/hcv", url, model="hcv", tensors="binary", timeout=60)
            assert compare(tmp_path / "models") > 0


def test_kserves_python_sdk_has_people_explained(server: LiveServer, client: httpx.Client):
    needs(KSERVE, "KServe")
    asked = [person(seed) for seed in range(5)]
    body = {"instances": [each["instance"] for each in asked], "context": asked[0]["context"]}
    command = [KSERVE / "python", HERE / "sdk.py", server.url, json.dumps(body)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert (told["live"], told["ready"]) == (True, [True, True])
    for explanation, predicted, each in zip(
        told["explained"]["explanations"], told["predicted"]["predictions"], asked, strict=True
    ):
        own = {"instance": each["instance"], "context": asked[0]["context"]}
        said = client.post("/v1/models/hcv/counterfactuals", json=own, headers={"Accept": "application/json"}).json()
        assert explanation["counterfactuals"] == said["counterfactuals"]
        assert explanation["start"]["prediction"] == predicted == said["start"]["prediction"]
