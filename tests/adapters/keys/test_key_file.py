"""The key file: what is written is read again, what is wrong is named, and a server notices what has changed."""

import logging
import os
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest

from app.adapters.files.flaws import BrokenFiles, Flaw
from app.adapters.keys import key_ring
from app.adapters.keys.key import Key, hashed, matching, new_key
from app.adapters.keys.key_file import editing, rate_of, read_keys
from app.adapters.keys.key_ring import LOOK_SECONDS, KeyRing
from app.adapters.keys.rates import Rate

HASH = hashed("secret")
STOP = "chmod 600 (or 640) stops that"
ENTRY = f'[keys.a]\nsha256 = "{HASH}"\nmodels = "all"\nmade = 2026-11-16T12:00:00Z\n'
RULES = """
[keys.a.rules.hcv.constraints]
causal = [{ cause = "ALT", effects = ["AST", "a \\"name\\""] }]
max_step = { ALT = 1e-7 }
max_changes = 3

[keys.a.rules.hcv.policy]
registries = ["hcv"]
without_registry = true

[keys.a.rules."*"]
policy = { least_threshold = 0.8 }
"""
EVEN_IF_IMMUTABLE = '{ cause = "ALT", effects = [{ feature = "AST", change = 2, even_if_immutable = true }] }'


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "keys.toml"


def add(file: Path, name: str, **fields) -> str:
    with editing(file) as keys:
        key, text = new_key(name, fields.get("models"), fields.get("rate"), fields.get("note", ""))
        keys[key.id] = key
    return text


def test_what_is_written_is_read_again(file: Path):
    add(file, "a", models=("hcv", 'a "quoted" one'), rate=Rate(60, 5), note='Zoë\\\'s "ward" \u2603')
    add(file, "123")
    with editing(file) as keys:
        written = dict(keys)
    assert read_keys(file) == written
    assert written["a"].models == ("hcv", 'a "quoted" one')
    assert written["a"].note == 'Zoë\\\'s "ward" \u2603'
    assert written["a"].rate == Rate(60, 5)
    assert (written["123"].models, written["123"].rate) == (None, None)


def test_no_secret_is_written(file: Path):
    secret = add(file, "a").rpartition("_")[2]
    assert len(secret) == 64
    assert secret not in file.read_text()


def test_a_new_file_is_for_its_owner_alone(file: Path):
    add(file, "a")
    assert file.stat().st_mode & 0o777 == 0o600


def test_who_could_read_the_file_still_can(file: Path):
    add(file, "a")
    file.chmod(0o640)
    add(file, "b")
    assert file.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("mode", "what"),
    [(0o600, None), (0o400, None), (0o640, None), (0o644, "read"), (0o660, "change"), (0o646, "change")],
)
def test_a_file_that_others_can_read_or_change_is_told_of(
    file: Path, mode: int, what: str | None, caplog: pytest.LogCaptureFixture
):
    add(file, "a")
    file.chmod(mode)
    KeyRing(file).look()
    said = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert said == ([] if what is None else [f"{file}: users other than its owner can {what} the key file; {STOP}"])


def test_a_link_to_the_file_stays_a_link(file: Path, tmp_path: Path):
    link = tmp_path / "link.toml"
    link.symlink_to(file)
    add(link, "a")
    assert link.is_symlink()
    assert set(read_keys(file)) == {"a"}


def test_rules_are_read_as_they_were_written(file: Path):
    """A file that is changed keeps the rules of all keys, those that were written by hand too."""
    file.write_text(ENTRY + RULES)
    before = read_keys(file)["a"].rules
    add(file, "b")
    after = read_keys(file)["a"].rules
    assert after == before
    assert after["hcv"].constraints.causal[0].effects == ["AST", 'a "name"']
    assert (after["hcv"].constraints.max_step, after["hcv"].policy.without_registry) == ({"ALT": 1e-7}, True)
    assert after["*"].policy.least_threshold == 0.8


def test_nothing_is_written_when_something_goes_wrong(file: Path):
    add(file, "a")
    before = file.read_bytes()
    with suppress(RuntimeError), editing(file) as keys:
        keys.clear()
        raise RuntimeError
    assert file.read_bytes() == before
    assert sorted(path.name for path in file.parent.iterdir()) == ["keys.toml", "keys.toml.lock"]


def test_keys_that_are_added_at_once_are_all_there(file: Path):
    threads = [Thread(target=add, args=(file, f"key-{number}")) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(read_keys(file)) == {f"key-{number}" for number in range(20)}


@pytest.mark.parametrize(
    ("text", "flaws"),
    [
        (ENTRY.replace(HASH, "abc"), ["keys.a.sha256: must be 64 lower-case hexadecimal digits"]),
        (ENTRY.replace('"all"', '"hcv"'), ['keys.a.models: must be "all" or a list of models']),
        (ENTRY.replace('"all"', "[]"), ['keys.a.models: must be "all" or a list of models']),
        (ENTRY.replace('models = "all"\n', ""), ["keys.a.models: is missing"]),
        (ENTRY + "rate = 0\n", ["keys.a.rate: must be 1 or more"]),
        (ENTRY + 'rate = "60"\n', ["keys.a.rate: must be a whole number"]),
        (ENTRY + "searches = 0\n", ["keys.a.searches: must be 1 or more"]),
        (ENTRY + "burst = 3\n", ["keys.a: has a burst but no rate"]),
        (ENTRY + "colour = 3\n", ["keys.a.colour: is not a known key"]),
        (ENTRY + 'note = "a\\nb"\n', ["keys.a.note: must be one line of at most 200 characters"]),
        (ENTRY.replace("keys.a", 'keys."A b"'), ["keys: number 1: an id has 1 to 40 characters of a-z, 0-9 and -"]),
        (ENTRY.replace("keys.a", "key.a"), ["key: is not a known key"]),
        (
            ENTRY + "rate = 0\n" + ENTRY.replace("keys.a", "keys.b").replace(HASH, ""),
            ["keys.a.rate: must be 1 or more", "keys.b.sha256: must be 64 lower-case hexadecimal digits"],
        ),
        (
            ENTRY + '[keys.a.rules.hcv.constraints]\nimutable = ["ALT"]\n',
            ["keys.a.rules.hcv.constraints.imutable: is not a known key; did you mean 'immutable'?"],
        ),
        (
            ENTRY + '[keys.a.rules."*".constraints]\nimmutable = ["ALT"]\n',
            ["keys.a: rules for all models cannot name features: write constraints for each model"],
        ),
        (
            ENTRY + f"[keys.a.rules.hcv.constraints]\ncausal = [{EVEN_IF_IMMUTABLE}]\n",
            ["keys.a.rules.hcv.constraints: cannot say even_if_immutable: only the file of a model or a registry can"],
        ),
        (
            ENTRY.replace('"all"', '["hcv"]') + '[keys.a.rules.hvc.policy]\ntarget = "fixed"\n',
            ["keys.a: has rules for a model that it may not use"],
        ),
        (ENTRY + "expires = 2027-01-31\n", ["keys.a.expires: must be a time, such as 2027-01-31T00:00:00Z"]),
        (ENTRY + "expires = 2027-01-31T00:00:00\n", ["keys.a.expires: must end with Z or an offset, such as"]),
        (ENTRY + f'old_sha256 = "{HASH}"\n', ["keys.a: old_sha256 and old_until belong together"]),
        ("[keys.a", ["is not valid TOML"]),
        (ENTRY + ENTRY, ["is not valid TOML"]),
    ],
)
def test_a_broken_file_is_refused_with_entry_and_reason(file: Path, text: str, flaws: list[str]):
    file.write_text(text)
    with pytest.raises(BrokenFiles) as refused:
        read_keys(file)
    said = str(refused.value).splitlines()
    assert len(said) == len(flaws)
    for line, flaw in zip(said, flaws, strict=True):
        assert line.startswith(f"{file}: {flaw}")


@pytest.mark.parametrize(
    "text",
    [
        ENTRY.replace("keys.a", "keys.{key}"),
        "[keys.{key}]\n",
        "[{key}]\n",
        "[keys.{key}]\n[keys.{key}]\n",
        ENTRY + '{key} = "a"\n',
        ENTRY.replace("keys.a", "keys.{secret}"),
    ],
)
def test_a_key_that_was_pasted_as_a_name_is_not_repeated(file: Path, text: str):
    _, whole = new_key("a", None, None, "")
    secret = whole.rpartition("_")[2]
    file.write_text(text.replace("{key}", whole).replace("{secret}", secret))
    with pytest.raises(BrokenFiles) as refused:
        read_keys(file)
    assert whole[:20] not in str(refused.value)
    assert secret[:8] not in str(refused.value)


def test_a_rate_without_a_burst_lets_a_minute_s_requests_come_at_once():
    assert rate_of(60, None) == Rate(60, 60)
    assert rate_of(60, 5) == Rate(60, 5)
    assert rate_of(None, None) is None


def test_only_the_whole_text_of_a_key_is_the_key(file: Path):
    text = add(file, "a")
    other = add(file, "b")
    keys = read_keys(file)
    secret = text.rpartition("_")[2]
    assert matching(text, keys) == keys["a"]
    wrong = ["", "flipset", "flipset_a", "flipset_a_", text[:-1], text + "0", text.upper(), f"flipset_b_{secret}"]
    wrong += [f"other_a_{secret}", f"flipset_c_{secret}", secret, f"flipset__{secret}", f" {text}", "flipset_a_\xff"]
    wrong += [f"flipset_a_{keys['a'].sha256}", "flipset_c_" + "0" * 64]
    assert [matching(text, keys) for text in wrong] == [None] * len(wrong)
    assert matching(other, keys) == keys["b"]


def test_a_ring_notices_what_has_changed_after_a_moment(file: Path):
    clock, first = Clock(), add(file, "a")
    ring = KeyRing(file, clock)
    assert ring.find(first) is not None
    second = add(file, "b")
    with editing(file) as keys:
        del keys["a"]
    assert ring.find(second) is None
    clock.now += LOOK_SECONDS
    assert ring.find(first) is None
    assert ring.find(second) is not None


@pytest.mark.parametrize("broken", ["[keys", "", None])
def test_a_ring_keeps_its_keys_while_the_file_is_broken_or_gone(
    file: Path, broken: str | None, caplog: pytest.LogCaptureFixture
):
    clock, text = Clock(), add(file, "a")
    ring = KeyRing(file, clock)
    assert ring.find(text) is not None
    file.unlink()
    if broken is not None:
        file.write_text(broken)
    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            clock.now += LOOK_SECONDS
            assert ring.find(text) is not None
    (record,) = caplog.records
    assert str(file) in record.getMessage()
    file.write_text(ENTRY)
    clock.now += LOOK_SECONDS
    assert ring.find(text) is None
    assert ring.find("flipset_a_secret") is not None


def test_a_ring_without_keys_says_that_nobody_gets_in(file: Path, caplog: pytest.LogCaptureFixture):
    clock, text = Clock(), add(file, "a")
    ring = KeyRing(file, clock)
    assert ring.find(text) is not None
    with editing(file) as keys:
        del keys["a"]
    clock.now += LOOK_SECONDS
    with caplog.at_level(logging.ERROR):
        assert ring.find(text) is None
    (record,) = caplog.records
    assert "holds no key: nobody gets in" in record.getMessage()


def test_a_key_can_be_added_to_an_empty_file(file: Path):
    file.touch()
    add(file, "a")
    assert set(read_keys(file)) == {"a"}


def test_a_ring_reads_again_after_a_failure_though_the_file_stays_the_same(
    file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    """As when all file numbers were taken at that moment: a revoked key must not live on."""
    clock, text = Clock(), add(file, "a")
    ring = KeyRing(file, clock)
    assert ring.find(text) is not None

    def fails(file: Path) -> dict[str, Key]:
        raise BrokenFiles([Flaw(file, "", "Too many open files")])

    with editing(file) as keys:
        del keys["a"]
    with monkeypatch.context() as patched, caplog.at_level(logging.ERROR):
        patched.setattr(key_ring, "read_keys", fails)
        for _ in range(3):
            clock.now += LOOK_SECONDS
            assert ring.find(text) is not None
    assert len(caplog.records) == 1
    clock.now += LOOK_SECONDS
    assert ring.find(text) is None


def test_a_ring_notices_a_change_that_left_time_and_size_as_they_were(file: Path):
    clock = Clock()
    file.write_text(ENTRY)
    before = file.stat()
    ring = KeyRing(file, clock)
    assert ring.find("flipset_a_secret") is not None
    file.write_text(ENTRY.replace(HASH, hashed("other")))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    clock.now += LOOK_SECONDS
    assert ring.find("flipset_a_secret") is None
    assert ring.find("flipset_a_other") is not None


def test_a_ring_over_a_broken_file_knows_nobody(file: Path):
    file.write_text("[keys")
    ring = KeyRing(file)
    ring.look()
    assert ring.find("flipset_a_secret") is None
