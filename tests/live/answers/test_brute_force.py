"""The whole way against brute force: a graph on disk, a real server, and ONNX Runtime asked one row at a time."""

from pathlib import Path
from typing import Any

import pytest

from tests.live.asking import ask, lines_of
from tests.support.brute_force import Case, feasible_sets, minimal_sets
from tests.support.case_files import request_of, write_case
from tests.support.live_server import live_server
from tests.support.scale import scaled
from tests.support.seeds import Seeds

CASES = 20
# Hardly anything, too little for most, and more than enough.
BUDGETS = (2, 25, 100_000)


@pytest.mark.parametrize("gaps", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "engine", ["auto", *(pytest.param(engine, marks=pytest.mark.slow) for engine in ("lattice", "cemsp"))]
)
def test_a_real_server_answers_like_brute_force(tmp_path: Path, engine: str, gaps: bool):
    (tmp_path / "ranges").mkdir()
    cases = {seed: write_case(tmp_path, seed, gaps=gaps) for seed in Seeds(scaled(CASES), 900)}
    with live_server(tmp_path / "models", tmp_path / "ranges") as server, server.client() as client:
        for seed, case in cases.items():
            for rows in BUDGETS:
                body = {**request_of(case), "limits": {"engine": engine, "max_model_rows": rows}}
                lines = lines_of(ask(client, body, f"m{seed}"))
                hold_to_the_truth(lines, case)
                # With rows enough the solver's search alone may miss answers: of a model that is not monotone.
                assert lines[-1]["complete"] or rows < 100_000 or engine == "cemsp", seed


def hold_to_the_truth(lines: list[dict[str, Any]], case: Case) -> None:
    summary, truth = lines[-1], minimal_sets(case)
    answers = [changed(line) for line in lines if line["type"] == "counterfactual"]
    assert len(answers) == len(set(answers))
    assert set(answers) <= truth
    assert {answer for answer in truth if len(answer) <= summary["complete_up_to"]} <= set(answers)
    assert set(answers) == truth or not summary["complete"]
    assert summary["outcome"] == ("found" if answers else "no_recourse" if summary["complete"] else "unknown")
    assert (summary["no_recourse"] is not None) == (not answers and summary["stopped_by"] is None)
    if why := summary["no_recourse"]:
        assert why["reason"] is None or summary["outcome"] == "no_recourse"
        assert why["best"] is None or changed(why["best"]) in feasible_sets(case)


def changed(answer: dict[str, Any]) -> frozenset[int]:
    return frozenset(int(change["feature"][1:]) for change in answer["changes"])
