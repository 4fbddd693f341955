"""What every answer says of itself: that it is not to be kept, held back, or taken for something else."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.around.prefix import path_within
from app.paths import OPEN_FOLDERS

ALL = [(b"x-content-type-options", b"nosniff")]
# May be cached, but must be revalidated each time: files of two versions do not go together.
FILES = [*ALL, (b"cache-control", b"no-cache")]
ANSWERS = [
    *ALL,
    # It may hold somebody's values.
    (b"cache-control", b"no-store"),
    # nginx would otherwise collect a stream before it passes it on.
    (b"x-accel-buffering", b"no"),
]


class AnswerHeaders:
    """Adds them to all answers, refusals included; files that are the same for everyone may be kept."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # Now: what is mounted below a path changes the scope on the way.
        added = FILES if path_within(scope).startswith(OPEN_FOLDERS) else ANSWERS

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *added]
            await send(message)

        await self._app(scope, receive, send_with_headers)
