"""The command line of the keys, and what a server that others can reach asks for."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from app.adapters.keys.key import Expired, matching
from app.adapters.keys.key_file import editing, read_keys
from app.adapters.keys.rates import Rate
from app.cli.flipset import cli
from tests.cli.test_flipset import flipset
from tests.support.live_server import ROOT


def run(*arguments: str, **environment: str) -> Result:
    """The command in this process, which is quicker where there are many to try."""
    return CliRunner().invoke(cli, arguments, env={"FLIPSET_MODELS_DIR": str(ROOT / "models"), **environment})


def test_a_key_is_made_listed_and_revoked(tmp_path: Path):
    file = tmp_path / "keys.toml"
    added = flipset("keys", "add", "ward-3")
    assert (added.returncode, added.stdout) == (1, "")
    assert "Set FLIPSET_KEYS_FILE, or name it with --file" in added.stderr
    named = {"FLIPSET_KEYS_FILE": str(file)}
    more = ("--searches", "4", "--note", "[b]Ward[/b]")
    added = flipset("keys", "add", "ward-3", "--model", "hcv", "--rate", "60", *more, **named)
    assert "not shown again" in added.stderr
    assert matching(added.stdout.strip(), read_keys(file)) is not None
    listed = flipset("keys", "list", **named).stdout
    (row,) = listed.splitlines()[1:]
    assert row.split()[:5] == ["ward-3", "hcv", "60", "60", "4"]
    assert row.endswith("[b]Ward[/b]")
    assert added.stdout.strip().rpartition("_")[2] not in listed
    revoked = flipset("keys", "revoke", "ward-3", **named)
    assert revoked.stdout == "Revoked: ward-3\n"
    assert "must be restarted" in revoked.stderr
    assert read_keys(file) == {}


def test_the_help_shows_the_tables_of_a_file_of_rules():
    """Rich takes words in square brackets for markup, unless they are escaped."""
    for command in ("add", "edit"):
        shown = run("keys", command, "--help", COLUMNS="200").stdout
        assert "[rules.MODEL.policy] and .constraints" in shown


RULES = """
[rules."*"]
policy = { target = "fixed" }
[rules.hcv]
constraints = { immutable = ["ALB"] }
"""


@pytest.fixture
def made(tmp_path: Path) -> tuple[Path, str]:
    """A file with one key, and its text."""
    file = tmp_path / "keys.toml"
    options = ("--model", "hcv", "--rate", "60", "--burst", "5", "--note", "the ward", "--expires", "2100-01-31")
    return file, run("keys", "add", "a", *options, "--file", str(file)).stdout.strip()


def test_what_is_not_edited_stays(made: tuple[Path, str], tmp_path: Path):
    file, text = made
    before = read_keys(file)["a"]
    assert before.expires == datetime(2100, 2, 1, tzinfo=UTC)
    (tmp_path / "rules.toml").write_text(RULES)
    for options, changes in [
        (["--note", "another"], {"note": "another"}),
        (["--model", "hcv", "--model", "thyroid"], {"models": ("hcv", "thyroid")}),
        (["--burst", "7"], {"rate": Rate(60, 7)}),
        (["--rate", "30"], {"rate": Rate(30, 30)}),
        (["--any-rate"], {"rate": None}),
        (["--searches", "4"], {"searches": 4}),
        (["--note", "4 at once"], {"note": "4 at once"}),
        (["--usual-searches"], {"searches": None}),
        (["--expires", "2100-01-01T12:00+01:00"], {"expires": datetime(2100, 1, 1, 11, tzinfo=UTC)}),
        (["--expires", "never"], {"expires": None}),
        (["--all-models"], {"models": None}),
    ]:
        done = run("keys", "edit", "a", *options, "--file", str(file))
        assert (done.exit_code, done.stdout) == (0, "Changed: a\n")
        before = replace(before, **changes)
        assert read_keys(file) == {"a": before}
    assert run("keys", "edit", "a", "--rules", str(tmp_path / "rules.toml"), "--file", str(file)).exit_code == 0
    rules = read_keys(file)["a"].rules
    assert (rules["*"].policy.target, rules["hcv"].constraints.immutable) == ("fixed", ["ALB"])
    assert run("keys", "edit", "a", "--no-rules", "--file", str(file)).exit_code == 0
    assert read_keys(file) == {"a": before}
    assert matching(text, read_keys(file)) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["edit", "a"], "Say what to change; see flipset keys edit --help."),
        (["edit", "b", "--note", "x"], "There is no key 'b'"),
        (["edit", "a", "--model", "hcv", "--all-models"], "Choose one: you gave two values for models."),
        (["edit", "a", "--searches", "4", "--usual-searches"], "Choose one: you gave two values for searches."),
        (["edit", "a", "--expires", "soon"], "--expires: must be a day such as 2027-01-31, a time such as"),
        (["edit", "a", "--expires", "soon"], "days or hours such as 90d or 12h, or never"),
        (["edit", "a", "--expires", "2020-01-01"], "--expires: is over already; to end a key now, use flipset keys"),
        (["edit", "a", "--expires", "0d"], "--expires: is over already"),
        (["edit", "a", "--expires", "2027-02-30"], "--expires: must be a day such as 2027-01-31, a time such as"),
        (["edit", "a", "--note", "x\ny"], "--note: must be one line of at most 200 characters"),
        (["edit", "a", "--model", "thyroid", "--rules", "{rules}"], "has rules for a model that it may not use"),
        (["edit", "a", "--rules", "{none}"], "none.toml: rules: is missing; write rules for each model"),
        (["edit", "a", "--rules", "nowhere.toml"], "nowhere.toml: No such file or directory"),
        (["rotate", "b"], "There is no key 'b'"),
        (["rotate", "a", "--grace", "long"], "--grace: must be days or hours, such as 90d or 12h"),
        (["rotate", "a", "--grace", "999999d"], "--grace: must be days or hours, such as 90d or 12h"),
    ],
)
def test_what_cannot_be_edited_is_said_and_nothing_changes(made: tuple[Path, str], arguments: list[str], message: str):
    file, _ = made
    rules, none = file.with_name("rules.toml"), file.with_name("none.toml")
    rules.write_text(RULES)
    none.write_text("")
    before = file.read_bytes()
    given = [argument.format(rules=rules, none=none) for argument in arguments]
    done = run("keys", *given, "--file", str(file))
    assert (done.exit_code, done.stdout, file.read_bytes()) == (1, "", before)
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_new_secret_takes_the_place_of_the_old_one_after_a_while(made: tuple[Path, str]):
    file, old = made
    before = read_keys(file)["a"]
    done = run("keys", "rotate", "a", "--grace", "12h", "--file", str(file))
    new, keys, now = done.stdout.strip(), read_keys(file), datetime.now(UTC)
    assert new.startswith("flipset_a_")
    assert new != old
    assert "The old secret is valid until" in done.stderr
    for text in (old, new):
        assert matching(text, keys, now + timedelta(hours=11)) == keys["a"]
    assert matching(new, keys, now + timedelta(hours=13)) == keys["a"]
    with pytest.raises(Expired):
        matching(old, keys, now + timedelta(hours=13))
    assert replace(keys["a"], sha256=before.sha256, old=None) == before
    assert f"{keys['a'].old.until:%Y-%m-%d %H:%M}" in run("keys", "list", "--file", str(file)).stdout
    third = run("keys", "rotate", "a", "--grace", "0d", "--file", str(file)).stdout.strip()
    keys = read_keys(file)
    assert (matching(old, keys), matching(third, keys)) == (None, keys["a"])
    with pytest.raises(Expired):
        matching(new, keys)


def test_a_key_expires(made: tuple[Path, str]):
    file, text = made
    keys = read_keys(file)
    assert matching(text, keys, datetime(2100, 1, 31, 23, 59, tzinfo=UTC)) == keys["a"]
    for secret in (text, run("keys", "rotate", "a", "--file", str(file)).stdout.strip()):
        with pytest.raises(Expired):
            matching(secret, read_keys(file), datetime(2100, 2, 1, tzinfo=UTC))
    assert matching(f"flipset_a_{'0' * 64}", keys, datetime(2100, 2, 1, tzinfo=UTC)) is None
    with editing(file) as edited:
        edited["a"] = replace(edited["a"], expires=datetime(2020, 1, 2, tzinfo=UTC))
    assert "2020-01-02 00:00 (over)" in run("keys", "list", "--file", str(file)).stdout


def test_a_file_that_others_can_read_is_told_of(tmp_path: Path):
    file = tmp_path / "keys.toml"
    assert "others" not in run("keys", "add", "a", "--file", str(file)).stderr
    file.chmod(0o644)
    listed = run("keys", "list", "--file", str(file))
    assert f"Note: {file}: users other than its owner can read the key file" in listed.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["add", "a"], "There is already a key 'a'; revoke it first, or choose another id."),
        (["add", "Ward 3"], "an id has 1 to 40 characters of a-z, 0-9 and -, and does not begin with -"),
        (["add", "b", "--burst", "3"], "--burst needs a --rate"),
        (["add", "b", "--note", "x\ny"], "must be one line of at most 200 characters"),
        (["revoke", "aa"], "There is no key 'aa'; did you mean 'a'?"),
        (["list", "--file", "nope.toml"], "There is no key file nope.toml yet; make a key with flipset keys add."),
        (["add", "--file", "no/such/folder.toml"], "folder.toml: cannot be written: No such file or directory"),
    ],
)
def test_what_cannot_be_done_is_said_in_plain_words(tmp_path: Path, arguments: list[str], message: str):
    file = {"FLIPSET_KEYS_FILE": str(tmp_path / "keys.toml")}
    assert run("keys", "add", "a", **file).exit_code == 0
    done = run("keys", *arguments, **file)
    assert (done.exit_code, done.stdout) == (1, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_model_that_is_not_there_is_mentioned(tmp_path: Path):
    done = run("keys", "add", "--model", "hvc", "--file", str(tmp_path / "keys.toml"))
    assert done.exit_code == 0
    assert f"there is no model 'hvc' in {ROOT / 'models'}; did you mean 'hcv'?" in done.stderr


def test_a_server_that_others_can_reach_needs_keys_or_a_clear_word():
    for host in ("0.0.0.0", "::", ""):  # noqa: S104  # which is what is refused
        done = run("serve", FLIPSET_HOST=host)
        assert done.exit_code == 1
        assert "flipset keys add" in done.stderr
        assert "FLIPSET_KEYS_FILE" in done.stderr
        assert "FLIPSET_ALLOW_ANONYMOUS=true" in done.stderr


def test_a_server_does_not_start_with_a_key_file_that_is_missing_empty_or_broken(tmp_path: Path):
    file = tmp_path / "keys.toml"
    named = {"FLIPSET_KEYS_FILE": str(file), "FLIPSET_ALLOW_ANONYMOUS": "true"}
    assert run("serve", **named).stderr == f"Flipset cannot start:\n{file}: No such file or directory\n"
    file.write_text("")
    said = run("serve", **named).stderr
    assert said == f"Flipset cannot start:\n{file}: holds no keys; make one with: flipset keys add\n"
    file.write_text("[keys.a]\nmade = 2026-11-16T12:00:00Z\n")
    assert run("serve", **named).stderr.splitlines()[1:] == [
        f"{file}: keys.a.sha256: is missing",
        f"{file}: keys.a.models: is missing",
    ]


@pytest.mark.parametrize(
    ("setting", "value", "reason"),
    [
        ("CORS_ORIGINS", "https://a.example/", "number 1 is not an origin"),
        ("CORS_ORIGINS", "https://a.example, b.example", "number 2 is not an origin"),
        ("CORS_ORIGINS", "[1", "is neither a JSON list nor values separated by commas"),
        ("TRUSTED_PROXIES", "10.0.0.0/8,proxy", "number 2 is neither an address nor a network"),
        ("ROOT_PATH", "flipset/", "must look like /flipset"),
        ("ROOT_PATH", "/v1", "must not begin with /v1, which is one of Flipset's own paths"),
        ("ROOT_PATH", "/docs/flipset", "must not begin with /docs"),
    ],
)
def test_settings_of_the_surroundings_are_checked(setting: str, value: str, reason: str):
    done = run("serve", **{f"FLIPSET_{setting}": value})
    assert done.exit_code == 1
    assert done.stderr.startswith(f"FLIPSET_{setting}: {reason}")


@pytest.mark.parametrize(("rate", "message"), [("0", "must be 1 or more"), ("1000001", "must be 1,000,000 or less")])
def test_a_rate_that_makes_no_sense_is_refused(tmp_path: Path, rate: str, message: str):
    done = run("keys", "add", "a", "--rate", rate, "--file", str(tmp_path / "keys.toml"))
    assert done.exit_code == 2
    assert f"Invalid value for '--rate': {message}" in done.stderr
    assert not (tmp_path / "keys.toml").exists()


def test_rules_that_do_not_fit_their_model_are_told_when_the_key_is_made(tmp_path: Path):
    file, rules = tmp_path / "keys.toml", tmp_path / "rules.toml"
    rules.write_text('[rules.hcv.constraints]\nimmutable = ["CRAE"]\n')
    said = run("keys", "add", "a", "--rules", str(rules), "--file", str(file))
    assert said.exit_code == 0
    where = "Note: rules.hcv.constraints.immutable[0]"
    assert (
        f"{where}: is not a feature of this model; did you mean 'CREA'? Until you fix it, this key is useless for hcv."
        in said.stderr
    )
    rules.write_text('[rules.hcv.constraints]\nimmutable = ["CREA"]\n')
    assert "Note" not in run("keys", "add", "b", "--rules", str(rules), "--file", str(file)).stderr
