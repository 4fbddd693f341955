"""The sentence before everything: what drives the decision, and only as far as the answer proves it."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.live_server import LiveServer
from tests.web.conftest import OpenPage
from tests.web.support.browser import PHONE
from tests.web.support.visiting import Answer, answer_to, example_of, row, tab, verdict, visit

EXAMPLES = ("already-favourable", "exactly-one-way", "no-way-out", "several-ways")
MODELS = ("hcv", "mortgage", "synthetic", "thyroid")
SAID = {
    ("hcv", "exactly-one-way"): "AST alone explains this: at ",
    ("hcv", "several-ways"): "No single value is enough: it takes AST and one of albumin, ",
    ("mortgage", "several-ways"): "No single value is enough: it takes debt-to-income and one of ",
    ("mortgage", "no-way-out"): "There are plans, but each one breaks a rule.",
    ("hcv", "no-way-out"): "No combination of values brought into range changes the decision.",
    ("hcv", "already-favourable"): "Nothing has to change: the model says healthy as it is.",
}


def plan(*features: str, more: list[str] | None = None) -> dict[str, Any]:
    """One that lowers these features from 2 to 1; it may be undone by others."""
    changes = [{"feature": name, "from": 2, "to": 1, "unit": None, "direction": "decrease"} for name in features]
    stability = None if more is None else {"more": {"holds": not more, "breaks_with": more or None}}
    return {"changes": changes, "sentence": f"Lower {' and '.join(features)}.", "stability": stability}


def told(
    page: Page,
    plans: list[dict[str, Any]],
    phase: str = "done",
    up_to: int = 0,
    movable: str = "abc",
    robustness: dict[str, Any] | None = None,
    rules: list[dict[str, Any]] | None = None,
    **summary: Any,
) -> list[str]:
    """What the page would say of an answer with these plans."""
    features = [{"name": name, "movable": name in movable, "status": "high"} for name in "abc"]
    target = {"classes": ["yes"], "compared_as": {"threshold": 0.5}}
    begun = {"target": target, "features": features, "prediction": {"favourable": False}}
    answer: dict[str, Any] = {
        "phase": phase,
        "plans": plans,
        "progress": {"complete_up_to": up_to},
        "start": {**begun, "robustness": robustness, "rules": rules or []},
    }
    if phase == "done":
        answer["summary"] = {"outcome": "found", "complete": True, "complete_up_to": 3, **summary}
    return page.evaluate(
        "([answer, model]) => import('/web/scripts/plans/story.js').then((module) => module.storyOf(answer, model))",
        [answer, {"features": [{"name": name} for name in "abc"]}],
    )


@pytest.mark.parametrize("robustness", [{"require": 0.95, "more": None}, {"require": None, "more": "require"}])
def test_of_plans_that_hold_it_is_not_said_that_no_other_changes_the_decision(page: Page, robustness: dict[str, Any]):
    page.goto("/")
    assert told(page, [plan("a")], robustness=robustness)[0] == "A alone is enough: at 1 the model says yes."
    two = told(page, [plan("a", "b")], robustness=robustness)
    assert two[0] == "One plan only that holds, of 2 changes: lower a and b."
    several = told(page, [plan("a", "b"), plan("a", "c")], robustness=robustness)
    assert several[0] == "No single value is enough for a plan that holds: it takes a and one of b or c."
    none: dict[str, Any] = {"outcome": "no_recourse", "no_recourse": {"reason": "ranges"}}
    assert told(page, [], robustness=robustness, **none) == ["No combination of values brought into range holds."]
    asked_nothing = {"require": None, "more": "tell"}
    assert told(page, [], robustness=asked_nothing, **none)[0].endswith("changes the decision.")


def test_what_an_answer_proves_is_said_and_nothing_else(page: Page):
    page.goto("/")
    assert told(page, [plan("a")]) == [
        "A alone explains this: at 1 the model says yes.",
        "B and c are abnormal, but no plan needs them.",
    ]
    assert told(page, [plan("a")], movable="ab")[1] == "B is high, but no plan needs it."
    assert told(page, [plan("a"), plan("b")]) == [
        "Any one of these is enough: a at 1 or b at 1.",
        "C is high, but no plan needs it.",
    ]
    assert told(page, [plan("a", "b"), plan("a", "c")]) == [
        "No single value is enough: it takes a and one of b or c.",
    ]
    assert told(page, [plan("a"), plan("b", "c")]) == [
        "A alone is enough: at 1 the model says yes.",
        "Without a it takes b and c.",
    ]
    assert told(page, [plan("a", "b", more=["c"])], movable="abc")[1:] == ["Improving c as well undoes it."]
    assert told(page, [plan("a", more=["b"]), plan("c", more=["a", "b"])])[1:] == [
        "Improving more than planned undoes every plan."
    ]
    assert told(page, [plan("a", more=["c"]), plan("b", more=[])])[1:] == ["Improving c as well undoes 1 of 2 plans."]


def test_of_an_answer_that_is_not_complete_nothing_is_said_about_plans_that_it_may_lack(page: Page):
    page.goto("/")
    some = [plan("a", "b"), plan("a", "c")]
    assert told(page, some, complete=False, complete_up_to=0) == []
    assert told(page, some, complete=False, complete_up_to=1) == [
        "No single value is enough: it takes at least 2 changes."
    ]
    assert told(page, [plan("a")], complete=False, complete_up_to=0) == ["A alone is enough: at 1 the model says yes."]
    assert told(page, [], outcome="unknown", complete=False) == []


def test_what_holds_only_within_the_rules_says_so(page: Page):
    page.goto("/")
    some = [plan("a", "b"), plan("a", "c")]
    rules = [{"item": "immutable[0]", "rule": "d"}]
    assert told(page, some, rules=rules) == [
        "Within the rules, no single value is enough: it takes a and one of b or c."
    ]
    assert told(page, [plan("a")], movable="a", rules=rules) == ["A alone is enough: at 1 the model says yes."]


def test_while_plans_stream_in_only_what_will_stay_true_is_said(page: Page):
    page.goto("/")
    some = [plan("a", "b"), plan("a", "c")]
    assert told(page, some, "streaming", 0) == []
    assert told(page, some, "streaming", 1) == ["No single value is enough: it takes at least 2 changes."]
    # Another single value may follow.
    assert told(page, [plan("a")], "streaming", 0) == []
    assert told(page, [plan("a")], "streaming", 1) == ["A alone is enough: at 1 the model says yes."]


@pytest.mark.parametrize("model", MODELS)
def test_every_example_is_told_in_a_sentence_that_the_api_bears_out(page: Page, server: LiveServer, model: str):
    for name in EXAMPLES:
        visit(page, model, name.replace("-", " "))
        story = verdict(page).locator(".story")
        expect(story).not_to_be_empty()
        expect(story).to_contain_text(SAID.get((model, name), ""))
        assert_borne_out(story.inner_text(), answer_to(server, model, example_of(server, model, name)))


def assert_borne_out(story: str, answer: Answer) -> None:
    """What stands in every plan, and what in none, counted once more."""
    plans = [{change["feature"] for change in found["changes"]} for found in answer["counterfactuals"]]
    assert ("Every plan" in story) <= (len(plans) > 1 and bool(set.intersection(*plans)))
    assert ("o single value" in story) == (bool(plans) and min(map(len, plans)) > 1 and len(plans) > 1)
    unneeded = {found["name"] for found in answer["start"]["features"] if found["movable"]} - set().union(*plans)
    undoing = {name for found in answer["counterfactuals"] for name in breaking(found)}
    assert ("no plan needs" in story) == bool(plans and unneeded - undoing)
    assert ("undoes" in story) == bool(undoing)


def breaking(found: dict[str, Any]) -> list[str]:
    return ((found.get("stability") or {}).get("more") or {}).get("breaks_with") or []


def test_a_value_that_is_said_to_be_enough_is_enough(page: Page, server: LiveServer):
    visit(page, "hcv", "exactly one way")
    story = verdict(page).locator(".story")
    request = example_of(server, "hcv", "exactly-one-way")
    target = answer_to(server, "hcv", request)["counterfactuals"][0]["changes"][0]["to"]
    expect(story).not_to_contain_text(f"at {target:g} U/L")
    said = float(story.inner_text().partition("at ")[2].split()[0])
    assert target < said < request["instance"]["AST"]
    with server.client() as client:
        for value, favourable in ((said, True), (said * 1.05, False)):
            body = {"instance": {**request["instance"], "AST": value}}
            judged = client.post("/v1/models/hcv/predictions", json=body).json()["prediction"]
            assert judged["favourable"] == favourable


def test_a_phone_has_room_for_the_verdict_and_its_first_sentence(open_page: OpenPage, server: LiveServer):
    page = open_page(server, **PHONE)
    visit(page, "hcv", "several ways")
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    strip = verdict(page)
    expect(strip).to_be_in_viewport(ratio=1)
    expect(strip).to_contain_text("No single value is enough")
    assert strip.evaluate("(element) => element.offsetHeight") < 844 / 3


def test_the_first_plan_of_thirty_values_is_above_the_fold(open_page: OpenPage, made_up: LiveServer):
    """And only abnormal values are listed, until all are asked for."""
    page = open_page(made_up, viewport={"width": 1280, "height": 800})
    visit(page, "thirty", "some low")
    expect(page.get_by_role("heading", name="Plan 1", exact=True)).to_be_in_viewport(ratio=1)
    values = page.get_by_role("region", name="Values", exact=True)
    expect(values.locator(".feature:visible")).to_have_count(6)
    values.get_by_role("button", name="Show all 30 values").click()
    expect(values.locator(".feature:visible")).to_have_count(30)
    expect(row(page, "f30")).to_be_visible()
    tab(page, "Overview").click()
    expect(page.get_by_role("button", name="f1: in ")).to_be_in_viewport()
