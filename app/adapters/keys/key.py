"""A key: who may use which models, and how often. Only the hash of its secret is stored."""

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256

from app.adapters.keys.key_rules import KeyRules
from app.adapters.keys.rates import Rate

# What a key may be for: to ask, to read records, to say what became of a plan, and to erase records.
SCOPES = ("ask", "read", "feedback", "erase")
# Of a key that names none.
USUAL_SCOPES = ("ask", "feedback")

PREFIX = "flipset"
SECRET_BYTES = 32
# An unknown id is compared with this, so that it takes as long as a known one.
NOBODY = "0" * 64


class Expired(Exception):
    """The secret is right, but it has expired."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.id = name


@dataclass(frozen=True, slots=True)
class OldSecret:
    """The previous secret of a key, and until when it is valid."""

    sha256: str
    until: datetime


@dataclass(frozen=True, slots=True)
class Key:
    """One entry of the key file. `models` None means all models, `expires` None means never."""

    id: str
    sha256: str
    models: tuple[str, ...] | None
    rate: Rate | None
    made: datetime
    note: str = ""
    rules: Mapping[str, KeyRules] = field(default_factory=dict)
    expires: datetime | None = None
    old: OldSecret | None = None
    # Most requests in progress in a process; None: as many as any client.
    searches: int | None = None
    scopes: tuple[str, ...] = USUAL_SCOPES

    @property
    def is_for_all(self) -> bool:
        return self.models is None

    def may_use(self, model: str) -> bool:
        return self.models is None or model in self.models


def new_key(name: str | None, models: tuple[str, ...] | None, rate: Rate | None, note: str) -> tuple[Key, str]:
    """A new key, and its text, which is shown once and not stored."""
    name = name or secrets.token_hex(4)
    secret = secrets.token_hex(SECRET_BYTES)
    made = datetime.now(UTC).replace(microsecond=0)
    return Key(name, hashed(secret), models, rate, made, note), f"{PREFIX}_{name}_{secret}"


def rotated(key: Key, old_until: datetime) -> tuple[Key, str]:
    """The key with a new secret, and its text. The old secret is valid until `old_until`."""
    secret = secrets.token_hex(SECRET_BYTES)
    return replace(key, sha256=hashed(secret), old=OldSecret(key.sha256, old_until)), f"{PREFIX}_{key.id}_{secret}"


def hashed(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


def matching(text: str, keys: dict[str, Key], now: datetime | None = None) -> Key | None:
    """The key with this text, or None; `Expired` if it has expired. An unknown id takes as long as a wrong secret."""
    prefix, _, rest = text.partition("_")
    name, _, secret = rest.partition("_")
    key = keys.get(name) if prefix == PREFIX else None
    old = None if key is None else key.old
    given = hashed(secret)
    is_current = hmac.compare_digest(given, NOBODY if key is None else key.sha256)
    is_old = hmac.compare_digest(given, NOBODY if old is None else old.sha256)
    if key is None or not (is_current or is_old):
        return None
    ends = [key.expires, None if is_current or old is None else old.until]
    now = datetime.now(UTC) if now is None else now
    if any(end is not None and now >= end for end in ends):
        raise Expired(key.id)
    return key
