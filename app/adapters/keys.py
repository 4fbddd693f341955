"""A key: who may ask, for which models, and how often. Of its secret only the hash is known here."""

import hmac
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256

from app.adapters.rates import Rate

PREFIX = "flipset"
SECRET_BYTES = 32
# What the secret of an id that there is not is compared with, so that it takes as long as any other.
NOBODY = "0" * 64


@dataclass(frozen=True, slots=True)
class Key:
    """One entry of the key file; no list of models means all."""

    id: str
    sha256: str
    models: tuple[str, ...] | None
    rate: Rate | None
    made: datetime
    note: str = ""

    @property
    def is_for_all(self) -> bool:
        return self.models is None

    def may_use(self, model: str) -> bool:
        return self.models is None or model in self.models


def new_key(name: str | None, models: tuple[str, ...] | None, rate: Rate | None, note: str) -> tuple[Key, str]:
    """A key, and its text, which is shown once and kept nowhere."""
    name = name or secrets.token_hex(4)
    secret = secrets.token_hex(SECRET_BYTES)
    made = datetime.now(UTC).replace(microsecond=0)
    return Key(name, hashed(secret), models, rate, made, note), f"{PREFIX}_{name}_{secret}"


def hashed(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


def matching(text: str, keys: dict[str, Key]) -> Key | None:
    """The key whose text this is; what is no key at all takes as long as one whose secret is wrong."""
    prefix, _, rest = text.partition("_")
    name, _, secret = rest.partition("_")
    key = keys.get(name) if prefix == PREFIX else None
    is_right = hmac.compare_digest(hashed(secret), NOBODY if key is None else key.sha256)
    return key if is_right else None
