"""What an answer claims: no more than is proved for the model, and what comes closest keeps to the rules."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest

from app.api.describing import lines as described
from tests.live import endless
from tests.live.asking import ask, lines_of
from tests.support import graphs
from tests.support.live_server import ROOT, live_server
from tests.support.networks import Network
from tests.support.waiting import eventually

WIDTH = 22
NAMES = [f"f{place}" for place in range(WIDTH)]
EVERYBODY = {"instance": dict.fromkeys(NAMES, 0)}
NO_WAY_OUT = json.loads((ROOT / "models/hcv/examples/no-way-out.json").read_text())


@pytest.fixture(scope="module")
def fickle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """An opaque model that says yes to exactly 4 changes of 22: with a fifth one it thinks better of it."""
    folder = tmp_path_factory.mktemp("fickle")
    network = Network(np.ones((WIDTH, 2)), np.array([-3.0, -4.0]), np.array([1.0, -10.0]), -0.5)
    graphs.write_network(folder / "models/fickle/model.onnx", network, opaque=True)
    graphs.write_model_toml(folder / "models/fickle", NAMES, registry="fickle")
    graphs.write_registry(folder / "ranges/fickle.toml", dict.fromkeys(NAMES, "{ low = 1 }"))
    deadlines = {"default_deadline_ms": str(endless.HOUR_MS), **endless.SETTINGS}
    with live_server(folder / "models", folder / "ranges", **deadlines) as server, server.client() as client:
        yield client


def summary_of(client: httpx.Client, body: dict[str, Any], model: str) -> dict[str, Any]:
    summary = lines_of(ask(client, body, model))[-1]
    described.Summary.model_validate(summary)
    return summary


def test_nothing_found_on_an_assumption_is_unknown_and_not_no_recourse(fickle: httpx.Client):
    """The rows suffice for all of up to 2 changes; then the solver takes everything changed at once for hopeless."""
    summary = summary_of(fickle, {**EVERYBODY, "limits": {"max_model_rows": 1_000}}, "fickle")
    ended = ("outcome", "complete", "stopped_by", "guarantee", "complete_up_to", "count")
    assert [summary[name] for name in ended] == ["unknown", False, None, "assumes_monotone", 2, 0]
    why = summary["no_recourse"]
    assert (why["reason"], why["complete"], why["relax"], why["best_without_rules"]) == (None, False, [], None)
    searches = 'engine="auto",model="fickle",outcome="unknown",stopped_by="none"'
    # It is counted after its last byte.
    eventually(lambda: f"flipset_searches_total{{{searches}}} 1.0" in fickle.get("/metrics").text)


def test_with_more_rows_there_are_answers(fickle: httpx.Client):
    summary = summary_of(fickle, {**EVERYBODY, "limits": {"max_model_rows": 1_000_000}}, "fickle")
    assert (summary["outcome"], summary["count"], summary["complete"]) == ("found", 7_315, True)


def test_what_would_surely_open_a_way_is_told_though_no_reason_is_known(fickle: httpx.Client):
    """At most 3 changes, of which all are tried: that is proved. Without that limit there is a way; and another rule
    leaves it open whether there is one within the rules.
    """
    body = {**EVERYBODY, "limits": {"max_model_rows": 20_000}}
    proved = summary_of(fickle, {**body, "constraints": {"max_changes": 3}}, "fickle")
    assert (proved["outcome"], proved["no_recourse"]["reason"]) == ("no_recourse", "constraints")
    few = summary_of(fickle, {**body, "constraints": {"formulas": [f"at_least(5, {', '.join(NAMES)})"]}}, "fickle")
    assert (few["outcome"], few["complete"], few["no_recourse"]["reason"]) == ("unknown", False, None)
    assert [way["items"] for way in few["no_recourse"]["relax"]] == [["formulas[0]"]]
    assert few["no_recourse"]["relax"][0]["counterfactual"]["prediction"]["favourable"] is True


def test_what_comes_closest_keeps_to_the_rules(client: httpx.Client):
    free = summary_of(client, NO_WAY_OUT, "hcv")["no_recourse"]
    assert free["best_without_rules"] is None
    kept = summary_of(client, {**NO_WAY_OUT, "constraints": {"immutable": ["BIL"]}}, "hcv")["no_recourse"]
    assert kept["reason"] == "ranges"
    assert "BIL" not in names(kept["best"])
    assert kept["best_without_rules"] == free["best"]
    assert "BIL" in names(free["best"])
    for best in (kept["best"], kept["best_without_rules"]):
        said = client.post("/v1/models/hcv/predictions", json={"instance": best["instance"]}).json()
        assert said["prediction"] == best["prediction"]
        assert best["prediction"]["favourable"] is False
    assert kept["best"]["prediction"]["score"] < free["best"]["prediction"]["score"]


def test_to_change_nothing_is_not_closest_where_something_must_change(client: httpx.Client):
    for name in names(summary_of(client, NO_WAY_OUT, "hcv")["no_recourse"]["best"]):
        why = summary_of(client, {**NO_WAY_OUT, "constraints": {"required": [name], "max_changes": 1}}, "hcv")
        assert names(why["no_recourse"]["best"]) == [name]


def test_what_comes_closest_within_the_rules_is_told_where_rules_are_in_the_way(client: httpx.Client):
    request = json.loads((ROOT / "models/mortgage/examples/no-way-out.json").read_text())
    subsets = client.post("/v1/models/mortgage/subsets", json=request).json()["subsets"]
    best = max((subset for subset in subsets if subset["allowed"]), key=lambda subset: subset["score"])
    why = summary_of(client, request, "mortgage")["no_recourse"]
    assert why["reason"] == "constraints"
    assert (names(why["best"]), why["best"]["prediction"]["score"]) == (best["features"], best["score"])
    assert why["best_without_rules"] is None


def names(answer: dict[str, Any]) -> list[str]:
    return [change["feature"] for change in answer["changes"]]
