"""The command line of the keys, and what a server that others can reach asks for."""

from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from app.adapters.key_file import read_keys
from app.adapters.keys import matching
from app.cli import cli
from tests.live_server import ROOT
from tests.test_cli import flipset


def run(*arguments: str, **environment: str) -> Result:
    """The command in this process, which is quicker where there are many to try."""
    return CliRunner().invoke(cli, arguments, env={"FLIPSET_MODELS_DIR": str(ROOT / "models"), **environment})


def test_a_key_is_made_listed_and_revoked(tmp_path: Path):
    file = tmp_path / "keys.toml"
    added = flipset("keys", "add", "ward-3")
    assert (added.returncode, added.stdout) == (1, "")
    assert "Set FLIPSET_KEYS_FILE, or name it with --file" in added.stderr
    named = {"FLIPSET_KEYS_FILE": str(file)}
    added = flipset("keys", "add", "ward-3", "--model", "hcv", "--rate", "60", "--note", "[b]Ward[/b]", **named)
    assert "shown this once" in added.stderr
    assert matching(added.stdout.strip(), read_keys(file)) is not None
    listed = flipset("keys", "list", **named).stdout
    (row,) = listed.splitlines()[1:]
    assert row.split()[:4] == ["ward-3", "hcv", "60", "60"]
    assert row.endswith("[b]Ward[/b]")
    assert added.stdout.strip().rpartition("_")[2] not in listed
    revoked = flipset("keys", "revoke", "ward-3", **named)
    assert revoked.stdout == "Revoked: ward-3\n"
    assert "must be restarted" in revoked.stderr
    assert read_keys(file) == {}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["add", "a"], "There is a key 'a' already; revoke it first, or take another id."),
        (["add", "Ward 3"], "an id is made of 1 to 40 of a-z, 0-9 and -, and does not begin with -"),
        (["add", "b", "--burst", "3"], "--burst needs a --rate"),
        (["add", "b", "--note", "x\ny"], "must be one line of at most 200 characters"),
        (["revoke", "aa"], "There is no key 'aa'; did you mean 'a'?"),
        (["list", "--file", "nope.toml"], "nope.toml: No such file or directory"),
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
    assert said == f"Flipset cannot start:\n{file}: holds no key; make one with: flipset keys add\n"
    file.write_text("[keys.a]\nmade = 2026-11-16T12:00:00Z\n")
    assert run("serve", **named).stderr.splitlines()[1:] == [
        f"{file}: keys.a.sha256: is missing",
        f"{file}: keys.a.models: is missing",
    ]


@pytest.mark.parametrize(
    ("setting", "value", "reason"),
    [
        ("CORS_ORIGINS", "https://a.example/", "number 1 is no origin"),
        ("CORS_ORIGINS", "https://a.example, b.example", "number 2 is no origin"),
        ("CORS_ORIGINS", "[1", "is neither a list in JSON nor values separated by commas"),
        ("TRUSTED_PROXIES", "10.0.0.0/8,proxy", "number 2 is no address and no network"),
        ("ROOT_PATH", "flipset/", "must look like /flipset"),
        ("ROOT_PATH", "/v1", "must not begin with /v1, which is a path of Flipset's own"),
        ("ROOT_PATH", "/docs/flipset", "must not begin with /docs"),
    ],
)
def test_settings_of_the_surroundings_are_checked(setting: str, value: str, reason: str):
    done = run("serve", **{f"FLIPSET_{setting}": value})
    assert done.exit_code == 1
    assert done.stderr.startswith(f"FLIPSET_{setting}: {reason}")
