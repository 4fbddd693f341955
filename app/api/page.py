"""The page: one document at the root, and the files that it loads."""

from importlib.resources import files

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from app import __version__

HEADERS = {
    # Nothing but our own files, no markup made of text, and no other site around it.
    "Content-Security-Policy": "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self'",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # Its fragment may hold what somebody chose to share.
    "Referrer-Policy": "no-referrer",
}


def add_page(app: FastAPI, prefix: str) -> None:
    """Serve the page at `/`. All that it names is named from there, so that it works below any prefix."""
    document = files("app").joinpath("web/index.html").read_text(encoding="utf-8").replace("VERSION", __version__)
    app.mount("/web", StaticFiles(packages=[("app", "web/files")]))

    @app.head("/", include_in_schema=False)
    @app.get("/", include_in_schema=False)
    async def page(request: Request) -> Response:
        if not request.scope["raw_path"].endswith(b"/"):
            # Asked for as the prefix alone: from there, what the page names would not be found.
            return RedirectResponse(f"{prefix}/")
        return HTMLResponse(document, headers=HEADERS)
