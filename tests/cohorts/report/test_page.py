"""The page: what it says, that names cannot break it, that it needs nobody, and is the same every time."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from tests.cohorts.report.made_up import FACTS, Person, favourable, found, unknown, without, write_run
from tests.cohorts.report.reading import Page, report_on

HOSTILE = [
    "<script>alert(1)</script>",
    "</style><img src=x onerror=alert(1)>",
    '" onload="alert(1)',
    "' onclick='alert(1)",
    "&lt;b&gt;",
    "]]><!--",
    "\u202etxet dehsup",
    "\x00\x1b[31m",
    "a" * 500,
]


def mixed() -> list[Person]:
    """Seventy people of every kind, in two groups and a nameless one."""
    return [
        *[favourable(sex="f")] * 10,
        *[replace(found("debt", "loan late", sex="f"), reasons=["debt", "loan", "late"])] * 20,
        *[without("immutable[0]", sex="f")] * 15,
        *[without(sex="m")] * 2,
        *[replace(found("debt loan", sex="m"), reasons=["debt", "loan"])] * 18,
        unknown(sex="m"),
        *[replace(found("late", sex="m"), complete=False, stopped_by="deadline", complete_up_to=1)] * 2,
        *[found("late", sex=None)] * 2,
    ]


@pytest.fixture
def page(tmp_path: Path) -> Page:
    return report_on(write_run(tmp_path / "run", mixed(), [("debt", "must be a number")] * 3, parts=3))


def test_it_says_what_it_is_about(page: Page):
    about = page.section("about")
    for words in [
        "What the model would say, not what will happen.",
        "Loans of a made-up bank (loans)",
        "approved, with a score of at least 0.5",
        "bank, version 2026-11",
        "70 people",
        "Flipset 1.2.3",
        "ab" * 32,
        "late never changes (immutable[0])",
        "at most 2 features change (max_changes)",
    ]:
        assert words in about
    assert page.table("Most frequent reasons") == [["must be a number", "debt", "3"]]
    assert "not finished" not in page.words
    assert "were changed after the run" not in page.words


def test_rules_of_the_model_and_the_registry_are_told_and_named_as_theirs(tmp_path: Path):
    """They hold for everyone too, and stand in the way like any other."""
    run = write_run(
        tmp_path / "run",
        [without("registry:directions.debt"), without("model:immutable[0]")],
        model={"name": "loans", "constraints": {"immutable": ["age"]}},
        registry={"name": "bank", "version": "1", "constraints": {"directions": {"debt": "decrease"}}},
    )
    page = report_on(run)
    for words in (
        "age never changes (model:immutable[0])",
        "debt may only go down (registry:directions.debt)",
        "late never changes (immutable[0])",
    ):
        assert words in page.section("about")
    assert page.table("Rules to give up") == [
        ["age never changes model:immutable[0]", "1", "0"],
        ["debt may only go down registry:directions.debt", "1", "0"],
    ]


def test_it_tells_the_outcomes_in_all_and_by_group(page: Page):
    assert page.table("Outcomes of all people") == [
        ["Favourable as they are", "10", "14.3 %"],
        ["Refused, with a way out", "42", "60.0 %"],
        ["Refused, no way out", "17", "24.3 %"],
        ["Refused, not known", "1", "1.4 %"],
        ["All", "70", "100.0 %"],
    ]
    assert page.table("Outcomes by sex") == [
        ["f", "45", "35", "20", "15", "0", "42.9 %", "28.0 to 59.1 %"],
        ["m", "23", "23", "20", "2", "1", "9.1 %", "2.5 to 27.8 %"],
        ["not given", "2", "2", "2", "0", "0", "0.0 %", "0.0 to 65.8 %"],
        ["All", "70", "60", "42", "17", "1", "28.8 %", "18.8 to 41.4 %"],
    ]
    assert "Of the 59 people refused whose search came to a result 28.8 % have no way out" in page.words
    assert (
        "If all of them had a way out, 28.3 % of all refused would have none; if none of them had, 30.0 %" in page.words
    )


def test_it_compares_groups_and_warns(page: Page):
    first, second, third = page.table("Share without a way out by sex, compared")
    assert first == ["f", "35", "42.9 %", "8.3 %", "+34.5", "+11.5 to +51.9", "▲ more, few people"]
    assert second[-1] == "▼ fewer, few people"
    assert third[-1] == "○ not clear, few people"
    groups = page.section("groups")
    for words in [
        "a difference does not tell its cause",
        "Fewer than 30 refused on either side say little",
        "3 comparisons are made here",
        "Of the refused with a known outcome, 42.9 % of the group “f” (sex) have no way out, 8.3 % of all others: "
        "34.5 points more (95 % interval 11.5 to 51.9).",
    ]:
        assert words in groups
    assert page.table("Differences by sex, whatever the unknown are")[1][:2] == ["m", "1"]


def test_a_clear_difference_between_groups_that_are_not_small_is_told_at_the_top(tmp_path: Path):
    people = [without(g="a")] * 56 + [found("debt", g="a")] * 14 + [without(g="b")] * 48 + [found("debt", g="b")] * 32
    told = report_on(write_run(tmp_path / "run", people))
    [header] = told.all("header")
    assert "20.0 points more" in "".join(header.itertext())
    alike = report_on(
        write_run(tmp_path / "alike", [*people[:70], *(replace(one, kept={"g": "b"}) for one in people[:70])])
    )
    assert "There is no clear difference between the compared groups." in alike.words
    assert "whatever the unknown are" not in alike.source


def test_it_tells_which_features_and_rules_are_in_the_way(page: Page):
    assert page.table("Features in the answers") == [
        ["debt Debt payments to income", "18", "42.9 %", "38", "90.5 %"],
        ["loan Loan to property value", "18", "42.9 %", "38", "90.5 %"],
        ["late Late payments", "4", "9.5 %", "24", "57.1 %"],
    ]
    assert "For 2 people among them answers may be missing" in page.words
    assert [row[1] for row in page.table("Why 17 people have no way out")] == ["15", "2", "0"]
    assert page.table("Rules to give up") == [["late never changes immutable[0]", "15", "0"]]


def test_a_search_that_ended_on_its_assumption_leaves_people_unknown(tmp_path: Path):
    assumed = {"complete": False, "complete_up_to": 2, "guarantee": "assumes_monotone", "stopped_by": None}
    people = [*[found("debt")] * 6, replace(found("late"), **assumed), *[replace(unknown(), **assumed)] * 3]
    page = report_on(write_run(tmp_path / "run", people))
    assert [row[:2] for row in page.table("Outcomes of all people")][2:4] == [
        ["Refused, no way out", "0"],
        ["Refused, not known", "3"],
    ]
    assert page.table("How the searches of the refused ended") == [
        ["Exact and complete", "6", "60.0 %", "all"],
        [
            "Ended on the assumption that one more change never hurts",
            "4",
            "40.0 %",
            "at least all of up to 2 changes",
        ],
    ]
    assert "For 1 person there may be more answers" in page.words


def test_it_tells_changes_answers_scores_and_completeness(page: Page):
    assert page.table("People by number of changes") == [["1", "24", "57.1 %"], ["2", "18", "42.9 %"]]
    assert page.table("People by number of answers") == [["1", "22", "52.4 %"], ["2", "20", "47.6 %"]]
    assert "Median 1, mean 1.43, of 42 people with a way out." in page.words
    assert page.table("Scores as they are and with the best answer") == [
        ["0.25 to 0.3", "42", "0"],
        ["0.75 to 0.8", "0", "42"],
    ]
    assert [row[0] for row in page.table("Median scores by sex")] == ["f", "m", "not given"]
    assert page.table("Scores as they are and with the closest changes") == [
        ["0.25 to 0.3", "2", "0"],
        ["0.4 to 0.45", "0", "2"],
    ]
    assert page.table("How the searches of the refused ended") == [
        ["Exact and complete", "57", "95.0 %", "all"],
        ["Stopped by the time allowed", "3", "5.0 %", "at least all of up to 1 change"],
    ]


def test_the_same_folder_gives_the_same_bytes(tmp_path: Path):
    folder = write_run(tmp_path / "run", mixed(), parts=3)
    assert report_on(folder).source == report_on(folder).source


def test_parts_of_another_size_give_the_same_page(tmp_path: Path):
    one, many = (report_on(write_run(tmp_path / str(parts), mixed(), parts=parts)).source for parts in (1, 6))
    assert one == many


def test_nothing_on_the_page_leads_to_another_host_or_runs(page: Page):
    assert not re.search(r"https?:|//|@import|url\(|<script|<link|<img|<iframe", page.source)
    references = [value for element in page.root.iter() for name, value in element.items() if name in ("href", "src")]
    assert references
    assert all(value.startswith("#") for value in references)
    assert not [name for element in page.root.iter() for name in element.attrib if name.startswith("on")]
    policies = [meta.get("content", "") for meta in page.all("meta") if meta.get("http-equiv")]
    assert policies[0].startswith("default-src 'none'")


def test_every_figure_is_named_and_described_and_every_table_headed(page: Page):
    identifiers = [element.get("id") for element in page.root.iter() if element.get("id")]
    assert len(identifiers) == len(set(identifiers))
    figures = page.all("svg")
    assert len(figures) >= 9
    for figure in figures:
        assert figure.get("role") == "img"
        names = {child.get("id"): child.text for child in figure if child.tag in ("title", "desc")}
        assert (figure.get("aria-labelledby") or "").split() == list(names)
        assert all(names.values())
    for table in page.all("table"):
        assert table.findtext("caption")
        assert all(head.get("scope") in ("col", "row") for head in table.iter("th"))
        assert {len(row) for row in table.iter("tr")} == {len(table.findall("thead/tr/th"))}


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_name_stays_a_name_wherever_it_stands(tmp_path: Path, name: str):
    """Groups, columns, features, items, reasons, and everything in run.json."""
    clean = name.replace("\x00", "") if "\x00" in name else name
    model = dict.fromkeys(("name", "title", "version", "sha256"), name) | {"favourable": [name], "threshold": name}
    facts = {
        "model": model,
        "flipset": name,
        "registry": {"name": name, "version": name},
        "features": [{"name": name, "title": name, "unit": name}],
        "request": {"constraints": {"immutable": [name], "formulas": [name], name: {name: name}}},
    }
    way = replace(found("debt"), answers=("debt",), kept={clean: name})
    stuck = replace(without("x"), in_the_way=[[name], ["immutable[0]", f"registry:{name}"]], kept={clean: name})
    people = [way, stuck, replace(way, complete=False, stopped_by=name), replace(way, kept={clean: "other"})]
    page = report_on(write_run(tmp_path / "run", people, [(name, name)], **facts))
    tags = {element.tag for element in page.root.iter()}
    assert not tags & {"script", "img", "b"}
    assert not [name for element in page.root.iter() for name in element.attrib if name.startswith("on")]
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", page.source)
    if name.startswith(("<", "&", "a")):
        assert name in page.words


@pytest.mark.parametrize(
    ("people", "rejects", "words"),
    [
        ([], [], "There is nobody in this run."),
        ([], [("debt", "is missing")], "1 row is in no other number on this page"),
        ([favourable(sex="f"), favourable(sex="m")], [], "Nobody was refused, so nobody needs a way out."),
        ([without(sex="f")], [], "Nobody has a way out, so no feature is part of one."),
        ([unknown(sex="f"), unknown(sex="m")], [], "came to a result"),
        ([found("debt", sex="f")], [], "Nobody is without a way out."),
        ([without("max_changes", sex="f"), found("debt", sex="f")], [], "There is nothing to compare"),
    ],
)
def test_a_run_with_little_in_it_still_has_a_page(tmp_path: Path, people: list, rejects: list, words: str):
    page = report_on(write_run(tmp_path / "run", people, rejects, kept={"sex": pa.string()}))
    assert words in page.words
    assert len(page.all("section")) == 9


def test_a_finished_run_without_any_part_has_a_page(tmp_path: Path):
    (tmp_path / "run.json").write_text('{"finished": true}')
    assert "There is nobody in this run." in report_on(tmp_path).words


@pytest.mark.parametrize(
    "facts", [{}, {"model": None, "features": 3, "request": [], "registry": "x", "people": "many", "rejects": 0}]
)
def test_a_run_json_that_says_little_is_enough(tmp_path: Path, facts: dict):
    folder = write_run(tmp_path / "run", mixed())
    (folder / "run.json").write_text(json.dumps({"finished": True, **facts}))
    assert "Recourse: a model" in report_on(folder).words


def test_an_unfinished_run_is_told_as_such(tmp_path: Path):
    folder = write_run(tmp_path / "run", mixed(), parts=7, finished=False, rows=500)
    (folder / "people" / "part-00006.parquet").unlink()
    (folder / "people" / "part-00007.parquet.unfinished").touch()
    words = report_on(folder).words
    assert "this run is not finished; the page shows 60 of 500 rows. 1 part that is half written is left out." in words


def test_tables_that_do_not_hold_what_run_json_speaks_of_are_told(tmp_path: Path):
    folder = write_run(tmp_path / "run", mixed())
    (folder / "run.json").write_text(json.dumps({**FACTS, "people": 71, "rejects": 0}))
    words = report_on(folder).words
    assert "run.json counts 71 people and 0 rejects, but the tables hold 70 and 0" in words


def test_a_model_that_gives_values_and_not_probabilities_has_its_own_scale(tmp_path: Path):
    model = {**FACTS["model"], "favourable": None, "threshold": None}
    people = [replace(found("debt"), score=180.0 + place, best_score=120.0 + place) for place in range(40)]
    page = report_on(write_run(tmp_path / "run", people, model=model))
    assert "The median goes from 199.5 to 139.5." in page.words
    assert "threshold" not in page.section("scores")


def test_many_features_and_rules_are_cut_and_it_is_said(tmp_path: Path):
    names = [f"f{place}" for place in range(60)]
    items = [f"exclusive[{place}]" for place in range(60)]
    page = report_on(write_run(tmp_path / "run", [found(*names), without(*items)]))
    assert len(page.table("Features in the answers")) == 50
    assert "13 more features change no more often." in page.words
    assert len(page.table("Rules to give up")) == 50
    assert "10 more rules are left out here." in page.words
