"""A real browser that reaches no other host, and a watch over all that goes wrong in it."""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright

from tests.support.waiting import PATIENCE

# Names a browser; unlike the settings it does not begin with FLIPSET_, or every command would complain that it is none.
VARIABLE = "TEST_BROWSER"
NAMES = ("chromium", "chromium-browser", "google-chrome")
NO_BROWSER = f"no Chromium is found here; install Debian's package chromium, or name one in {VARIABLE}"

# Only a defect takes so long, however busy the machine is.
LIMIT_MS = PATIENCE * 1000

# Playwright adds --headless, --no-sandbox (without which Chromium does not start as root) and an empty profile.
FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    # What a browser asks its maker for at every start.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # No name and no address but ours leads anywhere, whatever the network here allows.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)

# How a page may be looked at: options of a browser context.
DESKTOP = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "has_touch": True, "is_mobile": True}
DARK = {"color_scheme": "dark"}
STILL = {"reduced_motion": "reduce"}

# Runs before anything of the page, and is not subject to its policy.
TELL_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`the policy was violated: ${event.effectiveDirective} by ${event.blockedURI || "inline"}`));
"""


class BrowserNotThere(Exception):
    """A browser is named, and there is none of this name."""


def find_browser(environment: Mapping[str, str] = os.environ) -> str | None:
    """The one that is named, or else the first that is found; none, where nobody asked for one."""
    if named := environment.get(VARIABLE):
        if found := shutil.which(named, path=environment.get("PATH")):
            return found
        raise BrowserNotThere(f"{VARIABLE} names {named}, which is no program here")
    return next(filter(None, (shutil.which(name, path=environment.get("PATH")) for name in NAMES)), None)


@contextmanager
def launched(program: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS, timeout=LIMIT_MS)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Watch:
    """Notes requests to other hosts, errors in the console, exceptions, crashes and violations of the policy.

    It only listens. To intercept the requests would take each of them through this process, and the times that are
    measured in the browser would be those of the test.
    """

    troubles: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    def expect(self, text: str) -> None:
        """A trouble with this text belongs to the test: a browser reports every 422 as an error."""
        self.expected.append(text)

    def unexpected(self) -> list[str]:
        return [trouble for trouble in self.troubles if not any(text in trouble for text in self.expected)]

    def over(self, context: BrowserContext, origin: str) -> None:
        """Begin to watch what the pages of a context do; they may ask this origin, and no other."""
        context.add_init_script(TELL_VIOLATIONS)
        context.on("request", lambda request: self._judge(request.url, origin))
        context.on("console", self._hear)
        context.on("weberror", lambda thrown: self._note("exception", str(thrown.error)))
        context.on("page", lambda page: self._watch_page(page, origin))

    def _hear(self, said: ConsoleMessage) -> None:
        if said.type == "error":
            # A resource that could not be loaded is named by the place alone.
            self._note("console", f"{said.text} ({said.location['url']})")

    def _watch_page(self, page: Page, origin: str) -> None:
        page.on("crash", lambda _: self._note("crash", page.url))
        # Not among the requests.
        page.on("websocket", lambda socket: self._judge(socket.url, origin))

    def _judge(self, url: str, origin: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob") and f"{parts.scheme}://{parts.netloc}" != origin:
            self._note("request to another host", url)

    def _note(self, kind: str, text: str) -> None:
        self.troubles.append(f"{kind}: {text}")


def new_page(browser: Browser, watch: Watch, origin: str, **look: Any) -> Page:
    """An empty page in a context of its own: no cookies, no cache, nothing stored."""
    options = {"locale": "en-GB", "timezone_id": "UTC", "service_workers": "block", **DESKTOP, **look}
    context = browser.new_context(base_url=origin, **options)
    context.set_default_timeout(LIMIT_MS)
    watch.over(context, origin)
    return context.new_page()
