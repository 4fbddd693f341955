"""Receipts: what a record seals, signed with Ed25519 as a JWS (RFC 7515, RFC 8037) over canonical JSON (RFC 8785)."""

import base64
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from app.adapters.files.flaws import BrokenFiles, Flaw
from app.adapters.records.record import Record
from app.adapters.records.sealing import canonical, sha256

ALGORITHM, TYPE = "EdDSA", "flipset-receipt"
PRIVATE, PUBLIC = ".pem", ".pub"


class Refused(Exception):
    """A receipt that proves nothing; the text says why."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A key that receipts are checked with. Its id is its thumbprint (RFC 7638)."""

    key: Ed25519PublicKey

    @property
    def jwk(self) -> dict[str, str]:
        raw = self.key.public_bytes(Encoding.Raw, PublicFormat.Raw)
        return {"crv": "Ed25519", "kty": "OKP", "x": _encoded(raw)}

    @property
    def id(self) -> str:
        return _encoded(bytes.fromhex(sha256(canonical(self.jwk))))


class ReceiptKeys:
    """The keys of a folder: the newest private one signs, and all of them are published."""

    def __init__(self, folder: Path) -> None:
        try:
            files = sorted(file for file in folder.iterdir() if file.suffix in (PRIVATE, PUBLIC))
        except OSError as error:
            raise BrokenFiles([Flaw(folder, "", error.strerror or "cannot be read")]) from None
        private = {file: _private(file) for file in files if file.suffix == PRIVATE}
        if not private:
            raise BrokenFiles([Flaw(folder, "", "holds no key; make one with: flipset records new-key")])
        self._signing = list(private.values())[-1]
        public = [key.public_key() for key in private.values()]
        self.public = [PublicKey(key) for key in (*public, *(_public(file) for file in files if file.suffix == PUBLIC))]
        self._id = PublicKey(self._signing.public_key()).id

    def jwks(self) -> dict[str, Any]:
        """What others need to check receipts."""
        return {"keys": [{**key.jwk, "alg": ALGORITHM, "kid": key.id, "use": "sig"} for key in self.public]}

    def receipt(self, record: Record) -> str:
        """The receipt of a record, in the one form that is accepted again."""
        salt = None if record.personal is None else record.personal.salt
        content = {
            "hash": record.hash,
            "issued_at": time.time_ns() // 1_000_000,
            "record": json.loads(record.sealed),
            "salt_sha256": None if salt is None else sha256(salt),
        }
        head = canonical({"alg": ALGORITHM, "kid": self._id, "typ": TYPE})
        signed = f"{_encoded(head.encode())}.{_encoded(canonical(content).encode())}"
        signature = _encoded(self._signing.sign(signed.encode()))
        return canonical({"receipt": f"{signed}.{signature}", "salt": salt})


def new_key(folder: Path) -> Path:
    """Make a key that signs from the next start on."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    content = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file = folder / f"receipts-{datetime.now(UTC):%Y%m%dT%H%M%S%f}{PRIVATE}"
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
        opened.write(content)
    return file


def check_receipt(text: str, keys: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What a receipt says, and its salt; `Refused` unless it is, to the last byte, as one of these keys issued it."""
    held = _object(text.removesuffix("\n"), {"receipt", "salt"})
    parts = str(held["receipt"]).split(".")
    if len(parts) != 3:
        raise Refused("it holds no signature")
    head = _object(_decoded(parts[0]).decode(errors="replace"), {"alg", "kid", "typ"})
    key = {_id_of(key): key for key in keys}.get(str(head["kid"]))
    if (head["alg"], head["typ"]) != (ALGORITHM, TYPE) or key is None:
        raise Refused("none of the keys has signed it")
    try:
        public = Ed25519PublicKey.from_public_bytes(_decoded(str(key.get("x"))))
        public.verify(_decoded(parts[2]), f"{parts[0]}.{parts[1]}".encode())
    except (InvalidSignature, ValueError):
        raise Refused("its signature is wrong") from None
    content = _object(_decoded(parts[1]).decode(), {"hash", "issued_at", "record", "salt_sha256"})
    if sha256(canonical(content["record"])) != content["hash"]:
        raise Refused("its hash is not that of its record")
    salt = held["salt"]
    if (None if salt is None else sha256(str(salt))) != content["salt_sha256"]:
        raise Refused("its salt is not the one it was issued with")
    return {**content, "salt": salt}


def _id_of(key: Mapping[str, Any]) -> str:
    """The thumbprint, whatever the key calls itself."""
    return _encoded(bytes.fromhex(sha256(canonical({name: str(key.get(name)) for name in ("crv", "kty", "x")}))))


def _object(text: str, names: set[str]) -> dict[str, Any]:
    """JSON in its canonical form, with these keys."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise Refused("it is not JSON") from None
    if not isinstance(content, dict) or content.keys() != names or canonical(content) != text:
        raise Refused("it is not as it was issued")
    return content


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    """The bytes of a text that no other text stands for."""
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except ValueError:
        raise Refused("it is not as it was issued") from None
    if _encoded(raw) != text:
        raise Refused("it is not as it was issued")
    return raw


def _private(file: Path) -> Ed25519PrivateKey:
    try:
        key = load_pem_private_key(file.read_bytes(), None)
    except (OSError, ValueError, TypeError):
        raise BrokenFiles([Flaw(file, "", "is no private key in PEM without a password")]) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise BrokenFiles([Flaw(file, "", "is no key of Ed25519")])
    return key


def _public(file: Path) -> Ed25519PublicKey:
    try:
        key = load_pem_public_key(file.read_bytes())
    except (OSError, ValueError):
        raise BrokenFiles([Flaw(file, "", "is no public key in PEM")]) from None
    if not isinstance(key, Ed25519PublicKey):
        raise BrokenFiles([Flaw(file, "", "is no key of Ed25519")])
    return key
