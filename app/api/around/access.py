"""Who may ask: every path needs a key, but for those that are open: `app/paths.py`."""

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from app.adapters.keys.key import Expired, Key
from app.adapters.keys.key_rates import KeyRates
from app.adapters.keys.key_ring import KeyRing
from app.adapters.keys.rates import Rate, RatesLost
from app.api.around.prefix import path_within
from app.api.problems import problem_response
from app.asking.refusals import KeyExpired, KeyNeeded, RateExceeded, RatesUnavailable, RequestError
from app.paths import OPEN, OPEN_FOLDERS, OPEN_WITHOUT_QUERY


class Access:
    """Lets a request through that has a key and asks no more often than it may; its key stands in the state."""

    def __init__(self, app: ASGIApp, ring: KeyRing, rates: KeyRates, elsewhere: str | None = None) -> None:
        """`elsewhere` is the beginning of paths whose routes ask for something else than a key."""
        self._app = app
        self._elsewhere = elsewhere
        self._ring = ring
        self._rates = rates

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not is_open(scope) and not self._is_elsewhere(scope):
            try:
                await self._admit(scope)
            except RequestError as error:
                await problem_response(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _is_elsewhere(self, scope: Scope) -> bool:
        path = path_within(scope)
        return self._elsewhere is not None and (path == self._elsewhere or path.startswith(f"{self._elsewhere}/"))

    async def _admit(self, scope: Scope) -> None:
        given = Headers(scope=scope).get("authorization", "")
        scheme, _, text = given.partition(" ")
        # Asked in any case: the answer takes the same time, whatever is wrong with the key.
        try:
            key = self._ring.find(text.strip())
        except Expired as expired:
            scope.setdefault("state", {}).update(key_id=expired.id)
            raise KeyExpired from None
        if key is None or scheme.lower() != "bearer":
            raise KeyNeeded(was_given=bool(given))
        scope.setdefault("state", {}).update(key=key, key_id=key.id)
        if key.rate is not None:
            await self._count(key.id, key.rate)

    async def _count(self, key: str, rate: Rate) -> None:
        try:
            wait = await self._rates.wait(key, rate)
        except RatesLost:
            raise RatesUnavailable from None
        if wait:
            raise RateExceeded(wait)


def is_open(scope: Scope) -> bool:
    """Whether the path may be asked for by anyone."""
    path = path_within(scope)
    if path == OPEN_WITHOUT_QUERY:
        return not scope["query_string"]
    return path in OPEN or path.startswith(OPEN_FOLDERS)


def key_of(request: HTTPConnection) -> Key | None:
    """The key that the request came with; none where keys are off."""
    key = request.scope.get("state", {}).get("key")
    assert key is None or isinstance(key, Key)
    return key
