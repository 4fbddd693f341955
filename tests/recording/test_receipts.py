"""Receipts: issued by the service, checked without it."""

import base64
import json
import shutil
import subprocess
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from app.adapters.files.flaws import BrokenFiles
from app.adapters.records.opening import ready_store
from app.adapters.records.receipts import ReceiptKeys, Refused, check_receipt, new_key
from app.adapters.records.sealing import canonical
from app.cli.flipset import cli
from app.recording.proving import is_answer
from app.settings import Settings
from tests.live.asking import PERSON
from tests.support.live_server import ROOT
from tests.support.recorded import EXAMPLES, recorded
from tests.support.records import new_record
from tests.support.scale import scaled
from tests.support.seeds import Seeds

RECORD = {"instance": PERSON, "record": {"subject": "p-1"}}


@pytest.fixture
def keys(tmp_path: Path) -> ReceiptKeys:
    new_key(tmp_path / "keys")
    return ReceiptKeys(tmp_path / "keys")


@pytest.fixture
def receipt(tmp_path: Path, keys: ReceiptKeys) -> str:
    with closing(ready_store(f"sqlite:///{tmp_path}/r.db")) as store:
        store.append([new_record()])
        [record] = store.all()
    return keys.receipt(record)


def test_a_receipt_is_genuine_as_it_was_issued(keys: ReceiptKeys, receipt: str):
    said = check_receipt(receipt, keys.jwks()["keys"])
    assert said["record"]["seq"] == 1
    assert check_receipt(f"{receipt}\n", keys.jwks()["keys"]) == said


def test_a_receipt_altered_in_any_byte_is_refused(keys: ReceiptKeys, receipt: str):
    known, rng = keys.jwks()["keys"], Random(0)  # noqa: S311  # nothing random here is a secret
    for place in range(len(receipt)):
        others = [receipt[place].swapcase(), chr(ord(receipt[place]) ^ 1), rng.choice('Aa0-_. \n"{')]
        for other in others:
            altered = f"{receipt[:place]}{other}{receipt[place + 1 :]}"
            if altered != receipt:
                with pytest.raises(Refused):
                    check_receipt(altered, known)
        with pytest.raises(Refused):
            check_receipt(receipt[:place] + receipt[place + 1 :], known)
    for _ in Seeds(scaled(200)):
        place = rng.randrange(len(receipt))
        with pytest.raises(Refused):
            check_receipt(f"{receipt[:place]}{rng.choice(' Aa0')}{receipt[place:]}", known)


@pytest.mark.parametrize("head", [{"kid": []}, {"typ": "JWT"}, {"alg": "none"}, {"kid": "another"}])
def test_a_head_that_is_no_receipts_is_refused(keys: ReceiptKeys, receipt: str, head: dict[str, Any]):
    held = json.loads(receipt)
    signed = held["receipt"].split(".")
    known = json.loads(base64.urlsafe_b64decode(signed[0] + "=="))
    signed[0] = base64.urlsafe_b64encode(canonical({**known, **head}).encode()).rstrip(b"=").decode()
    with pytest.raises(Refused):
        check_receipt(canonical({**held, "receipt": ".".join(signed)}), keys.jwks()["keys"])


def test_a_receipt_is_refused_without_its_salt_and_however_deep_it_is(keys: ReceiptKeys, receipt: str):
    for text in (canonical({**json.loads(receipt), "salt": None}), "[" * 100_000):
        with pytest.raises(Refused):
            check_receipt(text, keys.jwks()["keys"])


def test_keys_are_rotated(tmp_path: Path, keys: ReceiptKeys, receipt: str):
    new_key(tmp_path / "keys")
    rotated = ReceiptKeys(tmp_path / "keys")
    assert len(rotated.jwks()["keys"]) == 2
    check_receipt(receipt, rotated.jwks()["keys"])
    with closing(ready_store(f"sqlite:///{tmp_path}/r.db")) as store:
        [record] = store.all()
    newer = rotated.receipt(record)
    check_receipt(newer, rotated.jwks()["keys"])
    with pytest.raises(Refused, match="none of the keys"):
        check_receipt(newer, keys.jwks()["keys"])
    # A key that calls itself by another's id signs nothing.
    own, other = keys.jwks()["keys"][0], rotated.jwks()["keys"][1]
    with pytest.raises(Refused):
        check_receipt(newer, [{**own, "kid": other["kid"]}])


def test_another_program_finds_the_signature_right(tmp_path: Path, keys: ReceiptKeys, receipt: str):
    """OpenSSL, which no one here wrote; `-rawin` is how it takes Ed25519."""
    head, content, signature = json.loads(receipt)["receipt"].split(".")
    (tmp_path / "signed").write_text(f"{head}.{content}")
    (tmp_path / "signature").write_bytes(base64.urlsafe_b64decode(f"{signature}=="))
    [key] = (tmp_path / "keys").iterdir()
    files = ["-in", str(tmp_path / "signed"), "-sigfile", str(tmp_path / "signature")]
    command = ["openssl", "pkeyutl", "-verify", "-inkey", str(key), "-rawin", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "Verified Successfully" in done.stdout, done.stderr


def test_folders_without_a_usable_key_are_refused(tmp_path: Path):
    with pytest.raises(BrokenFiles, match="No such file"):
        ReceiptKeys(tmp_path / "none")
    (tmp_path / "keys").mkdir()
    with pytest.raises(BrokenFiles, match="flipset records new-key"):
        ReceiptKeys(tmp_path / "keys")
    (tmp_path / "keys/a.pem").write_text("nothing")
    with pytest.raises(BrokenFiles, match="no private key"):
        ReceiptKeys(tmp_path / "keys")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def test_an_answer_with_reasons_is_known_by_its_receipt(tmp_path: Path, keys: ReceiptKeys):
    with recorded(f"sqlite:///{tmp_path}/r.db") as made:
        name, [sent] = made.ask_for_reasons("mortgage", EXAMPLES["mortgage"][3]), made.lines
        made.written()
        record = made.store.find(name)
        assert record is not None
    said = check_receipt(keys.receipt(record), keys.jwks()["keys"])
    assert f'"record":"{name}"' in sent
    assert is_answer(sent, said)
    assert is_answer(sent.replace('"recorded":true', '"recorded":false'), said)
    assert not is_answer(sent.replace('"rank":1', '"rank":2', 1), said)


def test_a_title_may_hold_what_else_ends_a_line(tmp_path: Path, keys: ReceiptKeys):
    models = tmp_path / "models"
    shutil.copytree(ROOT / "models/synthetic", models / "synthetic")
    described = models / "synthetic/model.toml"
    described.write_text(described.read_text().replace("Feature A", "Feature\u2028A"))
    with recorded(f"sqlite:///{tmp_path}/r.db", models) as made:
        name, lines = made.ask("synthetic", RECORD), made.lines
        made.written()
        record = made.store.find(name)
        assert record is not None
    assert "\u2028" in lines[0]
    assert is_answer("".join(lines), check_receipt(keys.receipt(record), keys.jwks()["keys"]))


def test_a_receipt_and_its_answer_are_checked_on_the_command_line(tmp_path: Path):
    assert run("records", "new-key", str(tmp_path / "keys")).exit_code == 0
    with recorded(f"sqlite:///{tmp_path}/r.db", receipt_keys=tmp_path / "keys") as made:
        name = made.ask("synthetic", RECORD)
        made.written()
        record = made.store.find(name)
        assert record is not None
        assert made.recorder.receipts is not None
        receipt = made.recorder.receipts.receipt(record)
        (tmp_path / "receipt.json").write_text(receipt)
        (tmp_path / "flipset-keys.json").write_text(json.dumps(made.recorder.receipts.jwks()))
        lines = "".join(made.lines)
        assert is_answer(lines, check_receipt(receipt, made.recorder.receipts.jwks()["keys"]))
        made.store.erase("p-1")
        erased = made.store.find(name)
        assert erased is not None
        (tmp_path / "erased.json").write_text(made.recorder.receipts.receipt(erased))
    (tmp_path / "answer.ndjson").write_text(lines)
    (tmp_path / "other.ndjson").write_text(lines.replace('"cost":1', '"cost":2'))
    file = str(tmp_path / "receipt.json")
    genuine = run("verify", file, "--answer", str(tmp_path / "answer.ndjson"))
    assert genuine.stdout.splitlines()[0].startswith(f"Genuine: record {name}, number 1")
    assert genuine.stdout.splitlines()[-1] == "The answer is the one of the receipt."
    assert run("verify", file, "--answer", str(tmp_path / "other.ndjson")).stderr == "The answer is another one.\n"
    assert run("verify", str(tmp_path / "erased.json")).exit_code == 0
    (tmp_path / "receipt.json").write_text(receipt.replace("A", "B", 1))
    assert "Not genuine" in run("verify", file).stderr
    assert "No such file" in run("verify", str(tmp_path / "nothing.json")).stderr
    assert Settings().receipt_keys is None
