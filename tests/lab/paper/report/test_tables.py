"""The tables: what stands in their cells, and that nothing that is missing goes unsaid."""

from dataclasses import replace

import pytest

from lab.paper.report.tables import agreement_lines, mean_cell, quality_lines, robustness_lines, table
from lab.paper.report.use_case import Situation, use_case_lines
from lab.paper.results import Agreement, Mean
from tests.lab.paper.report import made_up


def row(lines: list[str], title: str) -> list[str]:
    (found,) = [line for line in lines if line.startswith(f"| {title} |")]
    return [cell.strip() for cell in found.strip("|").split("|")]


def test_a_table_has_its_heading_and_as_many_columns_everywhere():
    assert table(["a", "b"], [["1", "2"]]) == ["| a | b |", "|---|---:|", "| 1 | 2 |"]


def test_a_mean_stands_with_its_interval_its_people_and_the_paper():
    mean = Mean(0.7, 0.61, 0.79, 18)
    assert mean_cell(mean, "none") == "0.700 [0.610, 0.790] (18)"
    assert mean_cell(mean, "none", 0.706) == "0.700 [0.610, 0.790] (18)<br>paper 0.706"


def test_without_a_mean_the_cell_says_why():
    assert mean_cell(made_up.NOBODY, "no answers") == "no answers"
    assert mean_cell(None, "no answers", 0.5) == "no answers<br>paper 0.500"


def test_the_quality_of_a_data_set():
    lines = quality_lines(made_up.data_set("hcv", "hcv-paper-tight"))
    assert row(lines, "method")[1:3] == ["Sparsity ↑", "APS ↓"]
    assert row(lines, "CEMSP as published")[1] == "0.706 [0.621, 0.791] (20)<br>paper 0.706"
    assert "paper" not in row(lines, "CEMSP exact (Flipset)")[1]
    assert "20 people asked about, of whom 6 have no counterfactual" in lines[-1]
    assert "paper's authors" in lines[-1]


def test_with_other_ranges_the_paper_is_no_anchor():
    lines = quality_lines(replace(made_up.data_set("hcv", "hcv-paper-tight"), registry="hcv"))
    assert "paper" not in "\n".join(lines).lower()


def test_robustness_counts_what_is_undefined():
    lines = robustness_lines(made_up.data_set("hcv", "hcv-paper-tight"))
    cells = row(lines, "CEMSP as published")
    assert cells[1] == "0.747 [0.657, 0.837] (20)<br>9 of 190 undefined<br>paper 0.747"
    assert row(lines, "method")[2:] == [f"noise, sigma {sigma}" for sigma in ("0.0001", "0.001", "0.01", "0.1")]
    assert "0.621 after retraining" in lines[-1]


def test_robustness_of_nothing_is_undefined():
    assert row(robustness_lines(made_up.with_nothing()), "PlainCF")[1].startswith("undefined<br>20 of 20 undefined")


def test_the_agreement_of_the_published_search():
    lines = agreement_lines([made_up.data_set("hcv", "hcv-paper-tight")])
    shares = ["20", "8 of 20 (40.0%)", "39 of 74 (52.7%)", "20 of 55 (36.4%)", "18 of 20 (90.0%)"]
    assert row(lines, "HCV (`hcv-paper-tight`) | those asked about")[2:] == shares
    assert row(lines, "HCV (`hcv-paper-tight`) | everyone refused")[2:4] == ["400", "199 of 400 (49.8%)"]


def test_an_agreement_about_nobody_divides_by_nothing():
    empty = replace(made_up.data_set("hcv", "hcv-paper-tight"), agreement=Agreement(0, 0, 0, 0, 0, 0, 0))
    assert row(agreement_lines([empty]), "HCV (`hcv-paper-tight`) | those asked about")[3:] == ["none"] * 4


def test_a_use_case_shows_the_values_and_the_changes_in_bold():
    lines = use_case_lines(made_up.use_case())
    assert row(lines, "value")[1:] == ["114", "75", "5.2"]
    assert row(lines, "normal range")[1:] == ["10 to 35", "at most 31.5", "3.9 to 5.2"]
    assert row(lines, "would be moved to")[1:] == ["35", "31.5", "none"]
    assert "| 2 | **35** | 75 | 5.2 |" in lines
    assert "**ALT stays as it is**: 1 counterfactual." in lines
    assert "**ALT and AST stay as they are**: no counterfactual." in lines


def test_a_use_case_refuses_a_feature_that_the_person_does_not_have():
    odd = replace(made_up.use_case(), situations=(Situation("odd", ({"GGT": 1.0},)),))
    with pytest.raises(ValueError, match="GGT"):
        use_case_lines(odd)
