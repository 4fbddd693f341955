"""`flipset ranges verify`: who lies outside, by group, and units that look wrong."""

from pathlib import Path

import numpy as np
import pytest

from app.onboarding.verifying.counting import other_unit, rule_of_20
from tests.onboarding.commands import files_in, flipset

REGISTRY = """
title = "Kidney"
version = "1"
[features.creatinine]
ranges = [{ when = { sex = "female" }, low = 41, high = 88 }, { when = { sex = "male" }, low = 50, high = 104 }]
[features.urea]
ranges = [{ low = 2.5, high = 7.8 }]
[features.potassium]
ranges = [{ low = 3.5, high = 5.1 }]
[features.sodium]
ranges = [{ low = 135, high = 145 }]
[features.glucose]
ranges = [{ low = 3.9, high = 5.6 }]
[features.albumin]
ranges = [{ low = 35, high = 50 }]
[features.children]
ranges = [{ low = 0.2, high = 0.8 }]
[features.steps]
ranges = [{ low = 20000 }]
[features.weight]
ranges = [{ when = { country = "FR" }, low = 50, high = 90 }]
[features.smoker]
allowed = ["no"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Creatinine in mg/dL, which the registry has in umol/L; urea that fits; potassium far too high."""
    rng = np.random.default_rng(0)
    (tmp_path / "normal_ranges").mkdir()
    (tmp_path / "normal_ranges/kidney.toml").write_text(REGISTRY)
    rows = ["sex,creatinine,urea,potassium,glucose,albumin,children,steps,weight,smoker"]
    for number in range(600):
        sex, middle = ("female", 65) if number % 2 else ("male", 77)
        creatinine, urea = rng.normal(middle, 11) / 88.4, rng.normal(5.1, 1.2)
        rows.append(
            f"{sex},{creatinine:.2f},{urea:.1f},{rng.normal(5.4, 0.4):.1f},"
            # Glucose in mg/dL, and albumin with a decimal comma.
            f'{rng.normal(4.7, 0.4) * 18:.0f},"{rng.integers(35, 50)},5",{number % 3},{number + 8000},70.5,no'
        )
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


def test_the_table_and_the_page_say_what_does_not_fit(folder: Path):
    done = flipset(
        folder, "ranges", "verify", "kidney", "people.csv", "--by", "sex", "--out", "page.html", COLUMNS="200"
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = {tuple(line.split()[:2]): line for line in done.stdout.splitlines() if line.strip()}
    assert "another unit? Multiplied by 88.4, most would be inside" in lines["creatinine", "everybody"]
    assert lines["urea", "everybody"].rstrip().endswith("fits")
    assert "does not fit: more than 10 % are outside" in lines["potassium", "everybody"]
    page = (folder / "page.html").read_text()
    assert "another unit? Multiplied by 88.4, most would be inside" in page
    assert "<script" not in page
    assert "another unit? Divided by 18, most would be inside" in lines["glucose", "everybody"]
    assert "written as texts" in lines["albumin", "everybody"]
    assert "the range holds no whole number: nobody could be moved into it" in lines["children", "everybody"]
    assert "whoever is moved into it gets a value that none of them has" in lines["steps", "everybody"]
    assert "no range holds for any of these people" in lines["weight", "everybody"]
    for told in ("Not verified: sodium: no column of this name", "Not verified: smoker: a category"):
        assert told in done.stdout
        assert told in page


def test_factors_are_found_both_ways_and_not_where_all_is_well():
    values = np.random.default_rng(1).normal(70, 8, 200)
    low, high = np.full(200, 50.0), np.full(200, 90.0)
    assert other_unit(values, low, high) is None
    assert other_unit(values / 88.4, low, high) == 88.4
    assert other_unit(values * 18, low, high) == pytest.approx(1 / 18)
    # Any factor that is large enough would do.
    assert other_unit(values * 18, np.zeros(200), high) is None
    assert other_unit(values / 18, low, np.full(200, np.inf)) is None


def test_the_rule_of_20_is_that_of_the_guideline():
    said = [rule_of_20(outside).partition(": ")[2] for outside in range(7)]
    assert said == ["holds"] * 3 + ["ask 20 more"] * 2 + ["does not hold"] * 2


def test_a_mistake_is_one_line(folder: Path):
    before = files_in(folder)
    for arguments, told in (
        (("kidny", "people.csv"), "kidny: is not a registry; did you mean 'kidney'?"),
        (("kidney", "nobody.csv"), "nobody.csv: no such file"),
        (("kidney", "people.csv", "--by", "age"), "--by age: is not a column"),
    ):
        done = flipset(folder, "ranges", "verify", *arguments)
        assert done.returncode == 1
        assert told in done.stderr
        assert len(done.stderr.splitlines()) == 1
    assert files_in(folder) == before
