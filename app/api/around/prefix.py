"""Serving below a prefix, whether or not what stands in front has taken it off the path."""

from starlette.types import ASGIApp, Receive, Scope, Send


class Prefix:
    """Puts the prefix where Starlette expects it: in `root_path`, and in front of every path."""

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self._app = app
        self._prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            scope["root_path"] = self._prefix
            if not f"{scope['path']}/".startswith(f"{self._prefix}/"):
                scope["path"] = self._prefix + scope["path"]
            elif scope["path"] == self._prefix:
                # Asked for without its last slash.
                scope["path"] += "/"
        await self._app(scope, receive, send)


def path_within(scope: Scope) -> str:
    """The path behind the prefix."""
    path: str = scope["path"]
    prefix: str = scope.get("root_path", "")
    return path[len(prefix) :] if prefix and f"{path}/".startswith(f"{prefix}/") else path
