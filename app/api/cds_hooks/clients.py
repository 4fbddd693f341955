"""Who calls a service of CDS Hooks: a client with a token of its own, where such clients are listed."""

from typing import TYPE_CHECKING

from fastapi import Request
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from app.adapters.tokens.refused import TokenRefused, TokensLost
from app.answering.in_use import ModelInUse
from app.api.around.access import key_of
from app.api.around.prefix import path_within
from app.api.dependencies import WorkRoute, permitted, service_of
from app.api.problems import problem_response
from app.asking.refusals import TokenNeeded, TokensUnavailable, UnknownModel
from app.clinic.hooks import is_offered

if TYPE_CHECKING:
    # The packages that check tokens need not be there.
    from app.adapters.tokens.checking import TokenCheck
    from app.adapters.tokens.trusted import TrustedClient


class HookRoute(WorkRoute):
    """A route that asks for the token before it reads anything else."""

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        check: TokenCheck | None = scope["app"].state.tokens
        if check is not None:
            try:
                _admit(scope, check)
            except (TokenNeeded, TokensUnavailable) as error:
                await problem_response(error)(scope, receive, send)
                return
        await super()._answer(scope, receive, send)

    async def find(self, name: str, request: Request) -> ModelInUse:
        """The model as a service. Who asks for another name learns only of those that they may use."""
        key = key_of(request)
        known = permitted(service_of(request).catalog, key).values()
        names = [each.name for each in known if is_offered(each) and may_use(request, each.name)]
        if name not in names and (key is None or key.may_use(name)):
            raise UnknownModel(name, names)
        return await super().find(name, request)


def _admit(scope: Scope, check: "TokenCheck") -> None:
    scheme, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise TokenNeeded("A token is needed here. Send it in the header Authorization: Bearer <token>.")
    try:
        client = check.client_of(token.strip(), path_within(scope))
    except TokenRefused as refused:
        raise TokenNeeded(str(refused)) from None
    except TokensLost:
        raise TokensUnavailable from None
    # Its requests count together, wherever they come from.
    scope.setdefault("state", {}).update(hook_client=client, key_id=f"cds:{client.issuer}")


def may_use(request: Request, model: str) -> bool:
    """Whether the client is for this model; without listed clients, anyone who came so far."""
    client: TrustedClient | None = request.scope.get("state", {}).get("hook_client")
    return client is None or client.may_use(model)
