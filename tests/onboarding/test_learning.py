"""`flipset ranges learn`, as a person runs it."""

import csv
import tomllib
from pathlib import Path

import numpy as np
import pytest

from app.adapters.files.snapshots import take_snapshot
from app.adapters.rules.registries import Registry, load_registry
from app.core.ranges import Equals, NormalRange
from tests.onboarding.commands import files_in, flipset
from tests.onboarding.learning.published import MEN, WOMEN

BOTH = ("--outcome", "well", "--favourable", "yes")


@pytest.fixture
def calcium(tmp_path: Path) -> Path:
    """The people of EP28-A3c's example, and 60 ill ones."""
    rng = np.random.default_rng(0)
    people = [
        *(("female", value, "yes") for value in WOMEN),
        *(("male", value, "yes") for value in MEN),
        *(("male", round(value, 1), "no") for value in rng.normal(12, 1, 60)),
    ]
    rng.shuffle(people)
    file = tmp_path / "people.csv"
    with file.open("w") as opened:
        csv.writer(opened).writerows([("sex", "calcium", "well"), *people])
    return file


def registry(folder: Path, name: str) -> Registry:
    snapshot = take_snapshot(folder / "models", folder / "normal_ranges")
    return load_registry(folder / "normal_ranges" / f"{name}.toml", snapshot)


def test_groups_that_differ_get_ranges_of_their_own(calcium: Path, tmp_path: Path):
    done = flipset(tmp_path, "ranges", "learn", "adults", calcium, *BOTH, "--by", "sex")
    assert (done.returncode, done.stderr) == (0, "")
    learned = registry(tmp_path, "adults").features["calcium"].ranges
    assert [(entry.when, entry.normal) for entry in learned] == [
        ({"sex": Equals("female")}, NormalRange(8.9, 10.2)),
        ({"sex": Equals("male")}, NormalRange(9.2, 10.3)),
        ({}, NormalRange(9.1, 10.3)),
    ]
    assert learned[2].source == "nonparametric, n = 240, 90 % confidence: low 8.9 to 9.2, high 10.3 to 10.4"


def test_the_file_says_how_from_whom_and_when_and_holds_no_row(calcium: Path, tmp_path: Path):
    flipset(tmp_path, "ranges", "learn", "adults", calcium, *BOTH)
    text = (tmp_path / "normal_ranges/adults.toml").read_text()
    learned = tomllib.loads(text)["learned"]
    assert set(learned) == {"day", "method", "group", "people", "rows", "sha256"}
    assert (learned["people"], learned["rows"], learned["group"]) == (240, 300, "well is yes")
    assert "12." not in text


def test_a_registry_is_not_replaced_without_force(calcium: Path, tmp_path: Path):
    flipset(tmp_path, "ranges", "learn", "adults", calcium, *BOTH)
    before = (tmp_path / "normal_ranges/adults.toml").read_text()
    done = flipset(tmp_path, "ranges", "learn", "adults", calcium)
    assert done.returncode == 1
    assert "this registry exists already; use another name, or --force to replace it" in done.stderr
    assert (tmp_path / "normal_ranges/adults.toml").read_text() == before
    assert flipset(tmp_path, "ranges", "learn", "adults", calcium, "--force").returncode == 0
    assert (tmp_path / "normal_ranges/adults.toml").read_text() != before


def test_ages_are_cut_and_the_cut_belongs_to_the_part_above(tmp_path: Path):
    rng = np.random.default_rng(1)
    ages = rng.integers(18, 90, 2000)
    file = tmp_path / "people.csv"
    rows = [
        f"{age},{value:.1f}" for age, value in zip(ages, rng.normal(np.where(ages < 50, 100, 150), 10), strict=True)
    ]
    file.write_text("\n".join(["age,pressure", *rows]) + "\n")
    flipset(tmp_path, "ranges", "learn", "pressure", file, "--by", "age:50,70")
    ranges = registry(tmp_path, "pressure").features["pressure"].ranges
    conditions = [entry.when["age"] for entry in ranges[:-1]]
    assert conditions == [NormalRange(70, None), NormalRange(50, 69), NormalRange(None, 49)]
    assert ranges[0].normal.low > ranges[2].normal.high - 20


def test_a_feature_that_is_to_stay_gets_no_range(calcium: Path, tmp_path: Path):
    text = calcium.read_text().splitlines()
    rows = [f"{20 + number % 50},{line}" for number, line in enumerate(text[1:])]
    calcium.write_text("\n".join([f"age,{text[0]}", *rows]) + "\n")
    flipset(tmp_path, "ranges", "learn", "adults", calcium, *BOTH)
    assert "can anybody change it?" in (tmp_path / "normal_ranges/adults.toml").read_text()
    done = flipset(tmp_path, "ranges", "learn", "adults", calcium, *BOTH, "--fixed", "age", "--force")
    assert "age: no range (it is to stay as it is)" in done.stdout
    assert set(registry(tmp_path, "adults").features) == {"calcium"}


def test_numbers_that_cannot_be_read_are_told_of(calcium: Path, tmp_path: Path):
    text = calcium.read_text().splitlines()
    spoilt = [f'{line},"{at % 7},5",{"1e300" if at == 3 else at % 9}' for at, line in enumerate(text[1:])]
    calcium.write_text("\n".join([f"{text[0]},ratio,far", *spoilt]) + "\n")
    done = flipset(tmp_path, "ranges", "learn", "adults", calcium, *BOTH)
    assert (done.returncode, done.stderr) == (0, "")
    assert "ratio: no range (it holds numbers that are written as texts" in done.stdout
    assert "far: no range (it holds values beyond 1e+100)" in done.stdout


def test_lenders_get_limits_with_both_shares(tmp_path: Path):
    rng = np.random.default_rng(2)
    ratios = np.round(rng.uniform(0.1, 0.7, 3000), 3)
    denied = rng.random(3000) < np.where(ratios > 0.36, 0.4, 0.1)
    homes = np.where(rng.random(3000) < 0.5, "owns", "rents")
    file = tmp_path / "loans.csv"
    rows = [f"{ratio},{home},{'no' if no else 'yes'}" for ratio, home, no in zip(ratios, homes, denied, strict=True)]
    file.write_text("\n".join(["ratio,home,approved", *rows]) + "\n")
    options = ("--outcome", "approved", "--favourable", "yes", "--policy")
    done = flipset(tmp_path, "ranges", "learn", "loans", file, *options, "--features", "ratio,home")
    assert done.returncode == 0, done.stderr
    (limit,) = registry(tmp_path, "loans").features["ratio"].ranges
    assert limit.normal.low is None
    assert limit.normal.high == pytest.approx(0.36, abs=0.01)
    assert limit.source.startswith("refused: 10 % of ") or limit.source.startswith("refused: 9")
    assert '# allowed = ["' in (tmp_path / "normal_ranges/loans.toml").read_text()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--by", "age"), "--by age: is not a column"),
        (("--by", "calcium"), "--by calcium: has more than 20 different values; give cuts, such as calcium:18,50"),
        (("--by", "calcium:10,9"), "--by calcium:10,9: the cuts must rise"),
        (("--by", "calcium:x"), "the cuts must be numbers"),
        (("--by", "sex:1"), "--by sex: has cuts, but is not a column of numbers"),
        (("--upper", "sodium"), "--upper sodium: is not a feature; known: calcium"),
        (("--policy",), "--policy needs --outcome and --favourable"),
        (("--model", "nothing"), "is not a served model"),
        (("--features", "sodium"), "--features sodium: is not a column"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_written(
    calcium: Path, tmp_path: Path, options: tuple[str, ...], told: str
):
    before = files_in(tmp_path)
    done = flipset(tmp_path, "ranges", "learn", "adults", calcium, *options)
    assert done.returncode == 1
    assert told in done.stderr or "holds no model" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert files_in(tmp_path) == before
