"""What `inspect` proposes for the columns of a graph."""

import re
import tomllib
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from app.adapters.graphs.inspecting import Graph


def graph(file: Path, *inputs: tuple[str, int]) -> Graph:
    """A graph that reads these inputs, each so wide, and scores with the first column."""
    graph = helper.make_graph(
        [helper.make_node("Identity", [inputs[0][0]], ["score"])],
        "test",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, width]) for name, width in inputs],
        [helper.make_tensor_value_info("score", TensorProto.FLOAT, [None, inputs[0][1]])],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(file))
    return Graph(file)


def test_columns_that_look_like_one_category_are_proposed_as_one_that_may_be_missing(tmp_path: Path):
    names = ["income", "home_owns", "home_rents", "home_other", "sex_male", "age"]
    draft = graph(tmp_path / "m.onnx", *((name, 1) for name in names)).draft()
    assert [feature["name"] for feature in tomllib.loads(draft)["features"]] == names
    [proposal] = re.findall(r"(?:^# .*\n)*^# missing = \"zeros\"$", draft, re.MULTILINE)
    taken = "\n".join(line.removeprefix("# ") for line in proposal.splitlines()[1:])
    assert tomllib.loads(taken)["features"] == [
        {
            "name": "home",
            "type": "category",
            "categories": ["owns", "rents", "other"],
            "one_hot": True,
            "missing": "zeros",
        }
    ]


@pytest.mark.parametrize("inputs", [[("features", 5)], [(f"x_{place}", 1) for place in range(5)]])
def test_columns_that_are_only_counted_are_no_group_but_it_is_said_how_to_make_one(
    tmp_path: Path, inputs: list[tuple[str, int]]
):
    draft = graph(tmp_path / "m.onnx", *inputs).draft()
    assert "look like one category" not in draft
    assert '# missing = "zeros"  ' in draft
    assert "# drop_first = true  " in draft
