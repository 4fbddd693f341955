"""Whether a token holds: signed by a trusted client, for this service, in time, and for the first time."""

import binascii
import json
import time
from base64 import urlsafe_b64decode
from collections.abc import Callable
from typing import Any, TypeGuard

from joserfc import jwt
from joserfc.errors import JoseError

from app.adapters.tokens.once import AcceptedTokens
from app.adapters.tokens.refused import TokenRefused, TokensLost
from app.adapters.tokens.trusted import TrustedClient, TrustedClients

ALGORITHMS = ["ES384", "RS384"]
# Clocks may differ by so much, and a token may be good for so long.
SKEW_SECONDS = 60
MOST_SECONDS = 300
LONGEST_TOKEN = 8_192
LONGEST_NAME = 256


NOT_ACCEPTED = "The token is not accepted."


class TokenCheck:
    """Checks tokens for one process."""

    def __init__(
        self, clients: TrustedClients, accepted: AcceptedTokens, clock: Callable[[], float] = time.time
    ) -> None:
        self._clients = clients
        self._accepted = accepted
        self._clock = clock

    def client_of(self, token: str, path: str) -> TrustedClient:
        """Who signed a token for this path of the service; `TokenRefused` or `TokensLost` if nobody can say so."""
        client = self._clients.by_issuer.get(_issuer(token))
        if client is None:
            raise TokenRefused(NOT_ACCEPTED)
        try:
            decoded = jwt.decode(token, client.keys, algorithms=ALGORITHMS)
        except (JoseError, ValueError, TypeError, KeyError, RecursionError):
            raise TokenRefused(NOT_ACCEPTED) from None
        if not isinstance(decoded.header.get("kid"), str):
            raise TokenRefused("The token must name its key: kid.")
        self._check_claims(decoded.claims, client, path)
        return client

    def _check_claims(self, claims: dict[str, Any], client: TrustedClient, path: str) -> None:
        """From here on the client is known, and hears what is wrong."""
        now = int(self._clock())
        audience = claims.get("aud")
        wanted = {self._clients.audience, f"{self._clients.audience}{path}"}
        if not wanted & set(
            audience if isinstance(audience, list) and all(map(_is_text, audience)) else [str(audience)]
        ):
            raise TokenRefused("The token is for another service: aud must be the address of this one.")
        issued, ends, name = claims.get("iat"), claims.get("exp"), claims.get("jti")
        if not _is_time(issued) or not _is_time(ends):
            raise TokenRefused("The token needs iat and exp, in seconds.")
        if ends <= now - SKEW_SECONDS:
            raise TokenRefused("The token has expired.")
        if issued > now + SKEW_SECONDS or ends - issued > MOST_SECONDS or ends > now + MOST_SECONDS + SKEW_SECONDS:
            raise TokenRefused(f"The token must be issued now and end within {MOST_SECONDS} seconds.")
        not_before = claims.get("nbf", issued)
        if not _is_time(not_before) or not_before > now + SKEW_SECONDS:
            raise TokenRefused("The token does not hold yet.")
        if not _is_text(name) or not 0 < len(name) <= LONGEST_NAME:
            raise TokenRefused("The token needs a jti, another for each request.")
        try:
            is_first = self._accepted.accept(client.issuer, name, int(ends) + SKEW_SECONDS, now)
        except OSError:
            raise TokensLost from None
        if not is_first:
            raise TokenRefused("The token was used before: make one for each request.")


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str)


def _is_time(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**40


def _issuer(token: str) -> str:
    """Who a token says that it is from; whether that is true is for the signature to say."""
    parts = token.split(".")
    if len(parts) != 3 or len(token) > LONGEST_TOKEN:
        raise TokenRefused(NOT_ACCEPTED)
    try:
        claims = json.loads(urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (ValueError, binascii.Error, RecursionError):
        raise TokenRefused(NOT_ACCEPTED) from None
    issuer = claims.get("iss") if isinstance(claims, dict) else None
    return issuer if isinstance(issuer, str) else ""
