"""Models that break down, over HTTP: refused where that is known in time, an error line where it is not."""

import json
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper

from tests.live.asking import ask, lines_of, refused
from tests.support import graphs
from tests.support.live_server import LiveServer, live_server

SECRET = 4711


def write_table(folder: Path) -> None:
    """Scores are looked up in a table of two entries: any other value of a feature breaks the model down."""
    nodes = [
        helper.make_node("Cast", ["features"], ["index"], to=TensorProto.INT64),
        helper.make_node("Gather", ["table", "index"], ["scores"], axis=0),
    ]
    graphs.save(folder / "models/table/model.onnx", nodes, {"table": np.array([0.2, 0.1])}, 2, TensorProto.DOUBLE)
    graphs.write_model_toml(folder / "models/table", ["a", "b"])


def write_root(folder: Path) -> None:
    """The square root of a negative number is not a number."""
    nodes = [helper.make_node("Sqrt", ["features"], ["scores"])]
    graphs.save(folder / "models/root/model.onnx", nodes, {}, 2, TensorProto.DOUBLE)
    graphs.write_model_toml(folder / "models/root", ["a", "b"])


def test_a_model_that_breaks_down(tmp_path: Path):
    write_table(tmp_path)
    write_root(tmp_path)
    (tmp_path / "ranges").mkdir()
    with live_server(tmp_path / "models", tmp_path / "ranges") as server:
        _refuse_at_once(server)
        _break_down_on_the_way(server)
        _pass_over_what_is_not_a_number(server)
        log = server.whole_log()
    assert str(SECRET) not in log
    assert "Traceback" not in log


def _refuse_at_once(server: LiveServer) -> None:
    with server.client() as client:
        for path in ("counterfactuals", "predictions", "subsets"):
            response = client.post(f"/v1/models/table/{path}", json={"instance": {"a": SECRET, "b": 0}})
            refused(response, 422)
            assert str(SECRET) not in response.text
            response = client.post(f"/v1/models/root/{path}", json={"instance": {"a": 1, "b": -1}})
            assert "instance" in refused(response, 422)


def _break_down_on_the_way(server: LiveServer) -> None:
    body = {"instance": {"a": 0, "b": 1}, "guide": {"a": SECRET}}
    with server.client() as client:
        for accept in ("application/x-ndjson", "application/json", "text/event-stream"):
            response = ask(client, body, "table", accept)
            assert response.status_code == 200
            assert '"type":"error"' in response.text
            assert '"status":422' in response.text
        # All subsets, or none.
        none = client.post("/v1/models/table/subsets", json=body)
        assert none.json()["type"].endswith("model-failed")
        assert str(SECRET) not in none.text
        whole = ask(client, body, "table", "application/json").json()
        assert "summary" not in whole
        assert json.dumps(whole["error"]).count(str(SECRET)) == 0


def _pass_over_what_is_not_a_number(server: LiveServer) -> None:
    with server.client() as client:
        body = {"instance": {"a": 4, "b": 1}, "guide": {"a": 0.25, "b": -9}}
        lines = lines_of(ask(client, body, "root"))
        assert [line["changes"][0]["feature"] for line in lines if line["type"] == "counterfactual"] == ["a"]
