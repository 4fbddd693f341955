"""Tokens of a clinic's client, made with the library that clients would use, and the file that lists the client."""

import json
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, OctKey, RSAKey

ISSUER = "https://ehr.example.org"
AUDIENCE = "https://flipset.example.org"
KEYS: dict[str, Any] = {
    "ES384": ECKey.generate_key("P-384", parameters={"kid": "ec-1"}),
    "RS384": RSAKey.generate_key(2048, parameters={"kid": "rsa-1"}),
}
STRANGERS: dict[str, Any] = {
    "ES384": ECKey.generate_key("P-384", parameters={"kid": "ec-1"}),
    "ES256": ECKey.generate_key("P-256", parameters={"kid": "ec-1"}),
    "HS256": OctKey.generate_key(256, parameters={"kid": "ec-1"}),
}


def write_clients(folder: Path, **more: Any) -> Path:
    public = KeySet(list(KEYS.values())).as_dict(private=False)
    (folder / "ehr.jwks.json").write_text(json.dumps(public))
    models = "".join(f"\n{key} = {json.dumps(value)}" for key, value in more.items())
    file = folder / "clients.toml"
    file.write_text(f'audience = "{AUDIENCE}"\n[clients."{ISSUER}"]\njwks = "ehr.jwks.json"{models}\n')
    return file


def claims(**changes: Any) -> dict[str, Any]:
    now = int(time.time())
    usual = {"iss": ISSUER, "aud": f"{AUDIENCE}/cds-services/hcv", "iat": now, "exp": now + 300, "jti": str(uuid4())}
    return {key: value for key, value in {**usual, **changes}.items() if value is not None}


def token(algorithm: str = "ES384", *, key: Any = None, header: dict[str, Any] | None = None, **changes: Any) -> str:
    signing = KEYS[algorithm] if key is None else key
    head = {"alg": algorithm, "typ": "JWT", "kid": signing.kid, **(header or {})}
    return jwt.encode(head, claims(**changes), signing, algorithms=[algorithm])
