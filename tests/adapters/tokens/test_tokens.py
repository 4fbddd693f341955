"""Tokens: those of trusted clients hold once, and no other ever does."""

import base64
import hmac
import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.adapters.files.flaws import BrokenFiles
from app.adapters.tokens.checking import MOST_SECONDS, SKEW_SECONDS, TokenCheck
from app.adapters.tokens.once import AcceptedTokens
from app.adapters.tokens.refused import TokenRefused, TokensLost
from app.adapters.tokens.trusted import read_clients
from tests.support.tokens import AUDIENCE, ISSUER, KEYS, STRANGERS, claims, token, write_clients

PATH = "/cds-services/hcv"


@pytest.fixture
def check(tmp_path: Path) -> TokenCheck:
    return TokenCheck(read_clients(write_clients(tmp_path)), AcceptedTokens(tmp_path))


@pytest.mark.parametrize("algorithm", ["ES384", "RS384"])
def test_a_token_holds_once(check: TokenCheck, algorithm: str):
    made = token(algorithm)
    assert check.client_of(made, PATH).issuer == ISSUER
    with pytest.raises(TokenRefused, match="used before"):
        check.client_of(made, PATH)


def test_no_other_process_accepts_it_again(check: TokenCheck, tmp_path: Path):
    made = token()
    check.client_of(made, PATH)
    other = TokenCheck(read_clients(tmp_path / "clients.toml"), AcceptedTokens(tmp_path))
    with pytest.raises(TokenRefused, match="used before"):
        other.client_of(made, PATH)
    other.client_of(token(jti="again", exp=int(time.time()) + 90), PATH)
    with pytest.raises(TokenRefused, match="used before"):
        check.client_of(token(jti="again"), PATH)


def test_what_was_accepted_is_forgotten_in_time(tmp_path: Path):
    accepted, now = AcceptedTokens(tmp_path), 1_000_000_020
    assert accepted.accept("a", "1", now + 60, now)
    assert not accepted.accept("a", "1", now + 60, now)
    assert accepted.accept("b", "1", now + 60, now)
    assert accepted.accept("a", "2", now + 1_060, now + 1_000)
    assert len(list((tmp_path / "tokens").iterdir())) == 1


def test_a_folder_that_the_system_has_cleared_is_made_again(tmp_path: Path):
    accepted, now = AcceptedTokens(tmp_path / "shared"), 1_000_000_020
    assert accepted.accept("a", "1", now + 60, now)
    shutil.rmtree(tmp_path / "shared")
    assert accepted.accept("a", "2", now + 60, now)
    assert not accepted.accept("a", "2", now + 60, now)


def test_where_nothing_can_be_noted_nobody_gets_in(check: TokenCheck, tmp_path: Path):
    (tmp_path / "tokens").write_text("a file, where a folder should be")
    with pytest.raises(TokensLost):
        check.client_of(token(), PATH)
    (tmp_path / "tokens").unlink()
    (tmp_path / "tokens" / "lost+found").mkdir(parents=True)
    assert check.client_of(token(), PATH).issuer == ISSUER


def part(value: Any) -> str:
    content = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def unsigned() -> str:
    return f"{part({'alg': 'none', 'kid': 'ec-1'})}.{part(claims())}."


def with_public_key_as_secret() -> str:
    """The oldest trick: HMAC with the public key, which everybody has."""
    signed = f"{part({'alg': 'HS256', 'kid': 'rsa-1'})}.{part(claims())}"
    secret = KEYS["RS384"].as_pem(private=False)
    return f"{signed}.{part(hmac.digest(secret, signed.encode(), 'sha256'))}"


def tampered() -> str:
    head, _, signature = token().split(".")
    return f"{head}.{token().split('.')[1]}.{signature}"


NOW = int(time.time())
REFUSED: dict[str, Callable[[], str]] = {
    "nothing": lambda: "",
    "no token": lambda: "a.b.c",
    "alg none": unsigned,
    "hmac": with_public_key_as_secret,
    "another key": lambda: token(key=STRANGERS["ES384"]),
    "another curve": lambda: token("ES256", key=STRANGERS["ES256"]),
    "tampered": tampered,
    "another issuer": lambda: token(iss="https://evil.example.org"),
    "no issuer": lambda: token(iss=None),
    "an issuer that is none": lambda: token(iss=["a"]),
    "another audience": lambda: token(aud="https://other.example.org"),
    "no audience": lambda: token(aud=None),
    "strange audiences": lambda: token(aud=[1, {}]),
    "expired": lambda: token(iat=NOW - 1_000, exp=NOW - 700),
    "from the future": lambda: token(iat=NOW + 4_000, exp=NOW + 4_300),
    "too long": lambda: token(exp=NOW + 100_000),
    "no end": lambda: token(exp=None),
    "no beginning": lambda: token(iat=None),
    "an end that is none": lambda: token(exp="soon"),
    "not yet": lambda: token(nbf=NOW + 10_000),
    "no name": lambda: token(jti=None),
    "a long name": lambda: token(jti="x" * 1_000),
    "a name that is none": lambda: token(jti=7),
    "a key from elsewhere": lambda: token(key=STRANGERS["ES384"], header={"jku": "https://evil.example.org/jwks"}),
    "a long one": lambda: token(padding="x" * 20_000),
    "deep": lambda: f"{token().split('.')[0]}.{base64.urlsafe_b64encode(b'[' * 30_000).decode()}.x",
}


@pytest.mark.parametrize("kind", REFUSED)
def test_no_other_token_holds(check: TokenCheck, kind: str):
    with pytest.raises(TokenRefused) as refused:
        check.client_of(REFUSED[kind](), PATH)
    assert "evil" not in str(refused.value)


def test_clocks_may_differ_a_little(check: TokenCheck):
    now = int(time.time())
    check.client_of(token(iat=now + SKEW_SECONDS - 10, exp=now + SKEW_SECONDS + MOST_SECONDS - 10), PATH)
    check.client_of(token(iat=now - MOST_SECONDS, exp=now - SKEW_SECONDS + 20), PATH)


def test_the_address_of_the_service_is_an_audience_too(check: TokenCheck):
    check.client_of(token(aud=AUDIENCE), PATH)
    check.client_of(token(aud=["https://other.example.org", AUDIENCE]), PATH)


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ("nothing", "is not a set of public keys"),
        ([KEYS["ES384"].as_dict(private=True)], "is a private key"),
        ([STRANGERS["ES256"].as_dict(private=False)], "neither an RSA key nor one of the curve P-384"),
        ([{key: part for key, part in KEYS["ES384"].as_dict(private=False).items() if key != "kid"}], "needs a kid"),
    ],
)
def test_keys_that_cannot_serve_are_named(tmp_path: Path, keys: Any, reason: str):
    file = write_clients(tmp_path)
    (tmp_path / "ehr.jwks.json").write_text(json.dumps({"keys": keys}))
    with pytest.raises(BrokenFiles, match=reason):
        read_clients(file)
