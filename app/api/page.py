"""The page: one document at the root, and the files that it loads."""

import re
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from app import __version__

# Nothing but our own files, and no other site around it.
POLICY = (
    "default-src 'none'; script-src 'self'{script}; style-src 'self'{style}; img-src 'self'{img}; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# No markup made of text.
NO_MARKUP = "; require-trusted-types-for 'script'; trusted-types 'none'"
HEADERS = {
    "Content-Security-Policy": POLICY.format(script="", style="", img="") + NO_MARKUP,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # Its fragment may hold what somebody chose to share.
    "Referrer-Policy": "no-referrer",
}


def docs_policy(document: str) -> str:
    """The policy of Swagger UI's page: our own files, and the one script that the page itself holds, by its digest."""
    (script,) = re.findall(r"<script>(.*?)</script>", document, flags=re.DOTALL)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    # Swagger UI puts styles on its elements, and pictures into its style sheet.
    return POLICY.format(script=f" 'sha256-{digest}'", style=" 'unsafe-inline'", img=" data:")


def add_page(app: FastAPI, prefix: str, *, keeps_records: bool) -> None:
    """Serve the page at `/`. All that it names is named from there, so that it works below any prefix."""
    document = files("app").joinpath("web/index.html").read_text(encoding="utf-8").replace("VERSION", __version__)
    document = document.replace("RECORDS", "on" if keeps_records else "off")
    app.mount("/web", StaticFiles(packages=[("app", "web/files")]))

    @app.head("/", include_in_schema=False)
    @app.get("/", include_in_schema=False)
    async def page(request: Request) -> Response:
        if not request.scope["raw_path"].endswith(b"/"):
            # Asked for as the prefix alone: from there, what the page names would not be found.
            return RedirectResponse(f"{prefix}/")
        return HTMLResponse(document, headers=HEADERS)
