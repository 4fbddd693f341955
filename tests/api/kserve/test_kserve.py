"""KServe's paths on a live server: the same answers as our own paths, in KServe's words."""

import json
from itertools import chain
from pathlib import Path

import httpx
import pytest

from tests.support.live_server import ROOT, live_server
from tests.support.waiting import eventually

EXAMPLES = [json.loads(file.read_text()) for file in sorted((ROOT / "models/hcv/examples").glob("*.json"))]
FEATURES = list(EXAMPLES[0]["instance"])


def without_times(answer: dict) -> dict:
    answer["summary"].pop("elapsed_ms")
    return answer


def test_an_explanation_is_the_answer_in_one_object(client: httpx.Client):
    for example in EXAMPLES:
        rest = {key: value for key, value in example.items() if key != "instance"}
        said = client.post("/v1/models/hcv:explain", json={"instances": [example["instance"]], **rest})
        assert said.status_code == 200, said.text
        (explanation,) = said.json()["explanations"]
        own = client.post("/v1/models/hcv/counterfactuals", json=example, headers={"Accept": "application/json"})
        assert without_times(explanation) == without_times(own.json())


def test_several_people_by_name_or_by_position(client: httpx.Client):
    people = [example["instance"] for example in EXAMPLES]
    listed = [[person[name] for name in FEATURES] for person in people]
    context = {"sex": "male", "age": 41}
    one, other = (
        client.post("/v1/models/hcv:explain", json={"instances": each, "context": context}).json()["explanations"]
        for each in (people, listed)
    )
    assert [*map(without_times, one)] == [*map(without_times, other)]
    assert len(one) == len(people)


def test_predictions_are_our_own(client: httpx.Client):
    people = [example["instance"] for example in EXAMPLES]
    own = client.post("/v1/models/hcv/predictions", json={"instances": people}).json()["predictions"]
    assert client.post("/v1/models/hcv:predict", json={"instances": people}).json() == {"predictions": own}
    rows = [[person[name] for name in FEATURES] for person in people]
    matrix = {"name": "instances", "datatype": "FP64", "shape": [len(rows), 10], "data": [*chain(*rows)]}
    columns = [
        {"name": name, "datatype": "FP64", "shape": [len(people)], "data": [person[name] for person in people]}
        for name in FEATURES
    ]
    for inputs in ([matrix], [{**matrix, "data": rows}], columns):
        said = client.post("/v2/models/hcv/infer", json={"id": "7", "inputs": inputs}).json()
        outputs = {output.pop("name"): output["data"] for output in said["outputs"]}
        assert said["id"] == "7"
        assert outputs == {key: [each[key] for each in own] for key in ("label", "score", "favourable")}
    only = client.post("/v2/models/hcv/versions/1.0.0/infer", json={"inputs": [matrix], "outputs": [{"name": "score"}]})
    assert [output["name"] for output in only.json()["outputs"]] == ["score"]


def test_categories_go_as_texts(client: httpx.Client):
    example = client.get("/v1/models/mortgage/examples").json()["examples"][0]["request"]
    described = client.get("/v2/models/mortgage").json()
    types = {tensor["name"]: tensor["datatype"] for tensor in described["inputs"]}
    inputs = [
        {"name": name, "datatype": types[name], "shape": [1], "data": [value]}
        for name, value in example["instance"].items()
    ]
    said = client.post("/v2/models/mortgage/infer", json={"inputs": inputs})
    own = client.post("/v1/models/mortgage/predictions", json={"instance": example["instance"]})
    assert said.status_code == 200, said.text
    assert said.json()["outputs"][1]["data"] == [own.json()["prediction"]["score"]]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/v2/health/live", {"live": True}),
        ("/v2/health/ready", {"ready": True}),
        ("/v2/models/hcv/ready", {"name": "hcv", "ready": True}),
        ("/v2/models/hcv/versions/1.0.0/ready", {"name": "hcv", "ready": True}),
    ],
)
def test_health_is_told_in_the_protocols_words(client: httpx.Client, path: str, said: dict):
    assert client.get(path).json() == said


def test_the_server_and_its_models_are_described(client: httpx.Client):
    assert client.get("/v2").json()["name"] == "flipset"
    described = client.get("/v2/models/hcv").json()
    assert described == client.get("/v2/models/hcv/versions/1.0.0").json()
    assert [tensor["name"] for tensor in described["inputs"]] == FEATURES


@pytest.mark.parametrize(
    ("path", "status"), [("/v2/models/none", 404), ("/v2/models/hcv/versions/9", 404), ("/v2/models/none/ready", 404)]
)
def test_what_is_not_there_is_an_error_of_the_protocol(client: httpx.Client, path: str, status: int):
    said = client.get(path)
    assert (said.status_code, list(said.json())) == (status, ["error"])


MATRIX = {"name": "instances", "datatype": "FP64", "shape": [1, 10], "data": [1.0] * 10}


@pytest.mark.parametrize(
    ("inputs", "named"),
    [
        ([], "inputs"),
        ([{**MATRIX, "shape": [1, 9], "data": [1.0] * 9}], "inputs[0].shape"),
        ([{**MATRIX, "shape": [2, 10]}], "inputs[0].shape"),
        ([{**MATRIX, "shape": [-1, -10]}], "inputs[0].shape"),
        # Nobody multiplies them.
        ([{**MATRIX, "shape": [99_991] * 300_000}], "inputs[0].shape"),
        ([{"name": "ALB", "datatype": "FP64", "shape": [1], "data": [value]} for value in (1, 2)], "inputs[1].name"),
        ([{**MATRIX, "datatype": "COMPLEX"}], "inputs[0].datatype"),
        ([{**MATRIX, "shape": [10]}], "inputs[0].name"),
        ([{**MATRIX, "data": [None] * 10}], "instances[0]"),
        ([{**MATRIX, "data": ["46.0"] * 10}], "instances[0]"),
    ],
)
def test_wrong_tensors_are_a_400_that_names_the_field(client: httpx.Client, inputs: list, named: str):
    said = client.post("/v2/models/hcv/infer", json={"inputs": inputs})
    assert said.status_code == 400
    assert named in said.json()["error"]


def test_an_output_is_sent_once_however_often_it_is_named(client: httpx.Client):
    body = {"inputs": [MATRIX], "outputs": [{"name": "score"}] * 1_000}
    assert [output["name"] for output in client.post("/v2/models/hcv/infer", json=body).json()["outputs"]] == ["score"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "instances"),
        ({"instances": []}, "instances"),
        ({"instances": [[1.0, 2.0]]}, "instances[0]"),
        ({"instances": [EXAMPLES[0]["instance"], {"ALB": 1.0}]}, "instances[1]"),
        ({"instances": [{**EXAMPLES[0]["instance"], "ALB": "high"}]}, "instances[0].ALB"),
        ({"instances": [EXAMPLES[0]["instance"]] * 33}, "instances"),
        ({"instances": [EXAMPLES[0]["instance"]], "unknown": 1}, "unknown"),
        ({"instances": [EXAMPLES[0]["instance"]], "instance": EXAMPLES[1]["instance"]}, "instance"),
    ],
)
def test_wrong_instances_are_a_422_that_names_the_field(client: httpx.Client, body: dict, field: str):
    said = client.post("/v1/models/hcv:explain", json=body)
    assert said.status_code == 422
    assert said.json()["errors"][0]["field"].startswith(field), said.text


def test_each_explanation_has_a_record_of_its_own(tmp_path: Path):
    records = f"sqlite:///{tmp_path / 'records.db'}"
    people = [example["instance"] for example in EXAMPLES]
    with live_server(records=records, record_all="true") as server, server.client() as client:
        body = {"instances": people, "context": {"sex": "male", "age": 41}}
        said = client.post("/v1/models/hcv:explain", json=body)
        names = said.headers["Flipset-Record"].split(", ")
        assert [each["start"]["record"] for each in said.json()["explanations"]] == names
        for name in names:
            eventually(lambda name=name: client.get(f"/v1/records/{name}").status_code == 200)
