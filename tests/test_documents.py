"""The README keeps its promises."""

import json
import re
import subprocess
from typing import Any

import pytest

from app.settings import Settings
from tests.live_server import ROOT, LiveServer

README = (ROOT / "README.md").read_text()
EXAMPLES = re.findall(r"```sh\n(curl.*?)```\n\n```json\n(.*?)```", README, flags=re.DOTALL)


def timeless(text: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in text.splitlines()]
    for line in lines:
        line.pop("elapsed_ms", None)
    return lines


@pytest.mark.parametrize(("command", "answer"), EXAMPLES)
def test_a_command_gets_the_answer_that_is_printed_below_it(server: LiveServer, command: str, answer: str):
    here = command.replace("http://127.0.0.1:8000", server.url)
    done = subprocess.run(["bash", "-c", here], check=True, cwd=ROOT, capture_output=True, text=True)
    assert timeless(done.stdout) == timeless(answer)


def test_there_are_such_commands():
    assert len(EXAMPLES) == 2


def test_every_setting_is_listed_with_its_default():
    for name, field in Settings.model_fields.items():
        (default, description) = re.findall(rf"\| `FLIPSET_{name.upper()}` \| (.*?) \| (.*?) \|", README)[0]
        assert description == field.description
        if field.default in (None, (), ""):
            assert default == "unset"
        elif isinstance(field.default, bool):
            assert default == f"`{str(field.default).lower()}`"
        elif name != "search_threads":
            assert default == f"`{field.default}`"
