"""The commands of the receipts: making a key, and checking a receipt without the service."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from app.adapters.files.names import counted
from app.adapters.machine.optional_groups import how_to_install
from app.cli.environment import fail, read_settings
from app.recording.telling import moment

Keys = Annotated[
    Path, typer.Option(help="what the service sends at /.well-known/flipset-keys; by default beside the receipt")
]
NAME = Path("flipset-keys.json")


def new_key(folder: Annotated[Path | None, typer.Argument(help="instead of FLIPSET_RECEIPT_KEYS")] = None) -> None:
    """Make a key that signs receipts from the next start on. Older keys stay, so that older receipts can be checked."""
    _check_installed()
    from app.adapters.records.receipts import new_key  # noqa: PLC0415

    found = folder or read_settings().receipt_keys
    if found is None:
        fail("Which folder? Set FLIPSET_RECEIPT_KEYS, or name it.")
    try:
        print(new_key(found))
    except OSError as error:
        fail(f"{found}: {error.strerror}")


def verify(
    receipt: Annotated[Path, typer.Argument(help="a receipt, as the service sent it")],
    keys: Keys = NAME,
    answer: Annotated[Path | None, typer.Option(help="the answer as JSON lines: is it the one of the receipt?")] = None,
) -> None:
    """Check a receipt offline, to the last byte. Ends with 1 unless it is as the service issued it."""
    _check_installed()
    from app.adapters.records.receipts import Refused, check_receipt  # noqa: PLC0415

    try:
        said = check_receipt(_text(receipt), _keys(receipt.with_name(NAME.name) if keys == NAME else keys))
    except Refused as refused:
        fail(f"Not genuine: {refused}.")
    record = said["record"]
    model = record["model"]
    print(f"Genuine: record {record['id']}, number {record['seq']}, of {moment(record['at'])}")
    print(f"{model['name']} {model['version']}, {record['outcome']}, {counted(record['answer']['sent'], 'plan')}")
    if answer is not None:
        _check_answer(_text(answer), said)


def _check_answer(lines: str, said: dict[str, Any]) -> None:
    if said["salt"] is None:
        fail("The receipt holds no salt: the values were erased, and no answer can be compared.")
    from app.recording.proving import is_answer  # noqa: PLC0415

    try:
        is_its_own = is_answer(lines, said)
    except (ValueError, AttributeError):
        fail("The answer is not one of JSON lines.")
    if not is_its_own:
        fail("The answer is another one.")
    print("The answer is the one of the receipt.")


def _keys(file: Path) -> list[dict[str, Any]]:
    try:
        found = json.loads(_text(file))["keys"]
    except (ValueError, KeyError, TypeError):
        fail(f"{file}: is not what /.well-known/flipset-keys sends")
    return [key for key in found if isinstance(key, dict)]


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        fail(f"{file}: {error.strerror}")
    except UnicodeDecodeError:
        fail(f"{file}: is not UTF-8 text")


def _check_installed() -> None:
    if find_spec("cryptography") is None:
        fail(f"Receipts need one more package: {how_to_install('receipts')}")
