"""docs/clients.md: every example runs, and prints what stands below it."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from tests.clients import node
from tests.live.clients.within import listening
from tests.support.live_server import ROOT, LiveServer, live_server

PAGE = (ROOT / "docs/clients.md").read_text()
HERE = "http://127.0.0.1:8000"
PRINTED = re.findall(r"```(\w+)\n([^`]*)```\n\n```text\n([^`]*)```", PAGE)
APPLICANT = json.loads((ROOT / "models/mortgage/examples/several-ways.json").read_text())["instance"]


def recipe(heading: str, language: str) -> str:
    """The code of a recipe."""
    (text,) = re.findall(rf"### {heading}\n.*?```{language}\n(.*?)```", PAGE, flags=re.DOTALL)
    return str(text)


def printed(command: list[str], folder: Path = ROOT) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "clients/python/src")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_there_are_such_examples():
    assert [language for language, _, _ in PRINTED] == ["python", "js", "python", "python", "sh", "python"]
    assert len(re.findall("^### ", PAGE, flags=re.MULTILINE)) == 5


@pytest.mark.parametrize("number", [0, 5])
def test_python_prints_what_stands_below_it(server: LiveServer, number: int):
    _, code, output = PRINTED[number]
    assert printed([sys.executable, "-c", code.replace(HERE, server.url)]) == output


def test_records_print_what_stands_below_them(real_server: LiveServer):
    _, code, output = PRINTED[2]
    assert printed([sys.executable, "-c", code.replace(HERE, real_server.url)]) == output


@pytest.mark.slow
def test_the_notebook_prints_what_stands_below_it(server: LiveServer):
    _, code, output = PRINTED[3]
    assert printed([sys.executable, "-c", code.replace(HERE, server.url)]) == output


@pytest.mark.slow
def test_javascript_prints_what_stands_below_it(server: LiveServer, tmp_path: Path):
    node.needs("node")
    _, code, output = PRINTED[1]
    package = tmp_path / "node_modules/flipset-client"
    package.parent.mkdir()
    package.symlink_to(node.PACKAGE)
    (tmp_path / "ask.mjs").write_text(code.replace(HERE, server.url))
    assert printed(["node", "ask.mjs"], tmp_path) == output


def test_the_shell_prints_what_stands_below_it(server: LiveServer):
    if shutil.which("jq") is None or shutil.which("curl") is None:
        pytest.skip("no jq or no curl is found here")
    _, code, output = PRINTED[4]
    assert printed(["bash", "-c", code.replace(HERE, server.url)]) == output


def test_the_back_end_passes_the_stream_on(server: LiveServer):
    module: dict[str, Any] = {"__name__": "recipe"}
    exec(recipe("A back-end that passes the stream on", "python").replace(HERE, server.url), module)  # noqa: S102
    with listening(uvicorn.Config(module["app"], port=0, log_level="critical")) as port:
        ways = httpx.post(f"http://127.0.0.1:{port}/ways", json=APPLICANT)
        wrong = httpx.post(f"http://127.0.0.1:{port}/ways", json={"pirat": 1})
    lines = [json.loads(line) for line in ways.text.splitlines()]
    assert ["way" in line for line in lines] == [True] * 4 + [False]
    assert lines[-1] == {"is_all": True}
    assert (wrong.status_code, wrong.json()["wrong"][0]) == (422, "instance.hirat")


@contextmanager
def site(text: Iterator[str] | list[str]) -> Iterator[str]:
    """A site of somebody else, with one page: the last of these texts."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(text[-1].encode() if self.path == "/" else b"")

        def log_message(self, *about: Any) -> None:
            """Nobody wants to know."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as running:
        threading.Thread(target=running.serve_forever).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


@pytest.mark.slow
def test_the_page_in_the_browser_shows_every_way():
    browsers = pytest.importorskip("tests.web.support.browser", reason="needs Playwright")
    if (program := browsers.find_browser()) is None:
        pytest.skip(browsers.NO_BROWSER)
    texts: list[str] = []
    with site(texts) as origin, live_server(cors_origins=origin) as server, browsers.launched(program) as browser:
        texts.append(recipe("A page in the browser", "html").replace(HERE, server.url))
        page = browser.new_page()
        page.goto(origin)
        page.get_by_role("button").click()
        page.get_by_text("There is no other way.").wait_for()
        assert page.get_by_role("listitem").count() == 4
