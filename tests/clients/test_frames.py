"""An answer as a data frame, and in a notebook."""

from typing import Any

import pytest
from flipset_client import Client, WholeAnswer

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
