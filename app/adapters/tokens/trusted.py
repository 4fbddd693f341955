"""The clients that are trusted: a TOML file, and beside it the public keys (JWKS) of each. Nothing is fetched."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, KeySet, RSAKey
from pydantic import Field

from app.adapters.files.flaws import BrokenFiles, Flaw
from app.adapters.files.toml_files import Entry, read_toml

LEAST_RSA_BITS = 2048


class ClientEntry(Entry):
    """A client: the file with its keys, and the models that it may ask; all, if none is named."""

    jwks: str = Field(min_length=1)
    models: list[str] | None = None


class ClientsEntry(Entry):
    """The file of clients, each by its issuer; `audience` is the address that they know this service by."""

    audience: str = Field(min_length=1)
    clients: dict[str, ClientEntry] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class TrustedClient:
    """Whoever signs with one of these keys."""

    issuer: str
    keys: KeySet
    models: frozenset[str] | None

    def may_use(self, model: str) -> bool:
        return self.models is None or model in self.models


@dataclass(frozen=True, slots=True)
class TrustedClients:
    """All of them, by issuer."""

    audience: str
    by_issuer: Mapping[str, TrustedClient]


def read_clients(file: Path) -> TrustedClients:
    """Read the file and the keys; `BrokenFiles` with all that is wrong."""
    try:
        entry = read_toml(file, file.read_bytes(), ClientsEntry)
    except OSError:
        raise BrokenFiles([Flaw(file, "", "cannot be read")]) from None
    flaws: list[Flaw] = []
    found = {}
    for issuer, client in entry.clients.items():
        try:
            keys = _keys(file.parent / client.jwks)
        except BrokenFiles as error:
            flaws.extend(error.flaws)
            continue
        found[issuer] = TrustedClient(issuer, keys, None if client.models is None else frozenset(client.models))
    if flaws:
        raise BrokenFiles(flaws)
    return TrustedClients(entry.audience.rstrip("/"), found)


def _keys(file: Path) -> KeySet:
    try:
        content = json.loads(file.read_bytes())
        keys = KeySet.import_key_set(content)
    except (OSError, ValueError, TypeError, KeyError, RecursionError, JoseError):
        raise BrokenFiles([Flaw(file, "", "is not a set of public keys (JWKS)")]) from None
    if flaws := [Flaw(file, f"keys[{index}]", flaw) for index, flaw in _flaws(keys, content)]:
        raise BrokenFiles(flaws)
    return keys


def _flaws(keys: KeySet, content: dict[str, Any]) -> Iterator[tuple[int, str]]:
    for index, (key, written) in enumerate(zip(keys.keys, content["keys"], strict=True)):
        if key.is_private:
            yield index, "is a private key, which belongs to the client alone; list its public part"
        elif not written.get("kid"):
            yield index, "needs a kid, by which tokens name it"
        elif isinstance(key, RSAKey) and key.public_key.key_size < LEAST_RSA_BITS:
            yield index, f"has fewer than {LEAST_RSA_BITS} bits"
        elif not isinstance(key, RSAKey) and not (isinstance(key, ECKey) and key.curve_name == "P-384"):
            yield index, "is neither an RSA key nor one of the curve P-384"
