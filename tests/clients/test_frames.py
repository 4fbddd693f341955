"""An answer as a data frame, and in a notebook."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from flipset_client import Client, InvalidRequest, WholeAnswer

from tests.clients.conftest import Connect
from tests.support.live_server import ROOT

COLUMNS = ["rank", "sentence", "changes", "cost", "label", "score"]


def test_a_frame_is_made_by_whatever_makes_frames(connect: Connect):
    columns: Any = connect().ask("plain").to_frame(dict)
    assert list(columns) == COLUMNS
    assert columns["rank"] == [1, 2, 3]
    assert columns["changes"] == [["a"]] * 3


def test_a_plan_that_was_taken_is_missed_in_a_frame(connect: Connect):
    answer = connect().ask("plain")
    next(answer)
    with pytest.raises(ValueError, match="taken already"):
        answer.to_frame(dict)


def test_a_notebook_shows_plans_and_takes_none_away():
    with Client.local(ROOT / "models", ROOT / "normal_ranges") as flipset:
        (example,) = [each for each in flipset.examples("mortgage") if each.name == "several-ways"]
        answer = flipset.counterfactuals("mortgage", **example.request)
        shown = answer._repr_html_()
        assert shown.count("<tr>") == 1 + 4
        assert "that is all, and proved" in shown
        assert [plan.rank for plan in answer] == [1, 2, 3, 4]
        assert "4 plans were read before" in answer._repr_html_()


def test_what_a_notebook_shows_is_text_and_no_markup(connect: Connect):
    whole: WholeAnswer = connect().ask("plain").read()
    sentence = "<script>alert(1)</script>"
    object.__setattr__(whole.plans[0], "sentence", sentence)
    assert sentence not in whole._repr_html_()


@pytest.mark.slow
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_pandas_and_polars(connect: Connect, library: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("flipset_client.whole.LIBRARIES", (library,))
    frame = connect().ask("plain").to_frame()
    assert type(frame).__module__.startswith(library)
    assert frame.shape == (3, len(COLUMNS))
    assert list(frame["score"]) == [0.75] * 3


def test_without_a_library_for_frames_there_is_advice(monkeypatch: pytest.MonkeyPatch, connect: Connect):
    monkeypatch.setattr("flipset_client.whole.LIBRARIES", ())
    with pytest.raises(ImportError, match="install pandas or polars"):
        connect().ask("plain").to_frame()


def test_a_row_of_a_frame_is_an_instance(connect: Connect):
    people = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    instances: dict[str, Any] = {"row": people.loc[1], "scalars": {"a": np.int64(2), "b": np.str_("y")}}
    for instance in instances.values():
        with pytest.raises(InvalidRequest) as echoed:
            connect().ask("echo", instance)
        assert json.loads(echoed.value.fields[0].message)["instance"] == {"a": 2, "b": "y"}


@pytest.mark.parametrize("instance", [pd.DataFrame({"a": [1]}), np.array([1]), {"a": np.array([1])}, {"a": object()}])
def test_what_is_no_row_is_refused_before_it_is_sent(connect: Connect, instance: Any):
    with pytest.raises(TypeError, match="a request cannot hold a"):
        connect().ask("echo", instance)
