"""Writes the tables of the reference pages from the code: the settings, the paths, and the fields of every object.

`make docs` runs it. A page holds `<!-- fields: Name -->` before a table and `<!-- end -->` after it; whatever stands
between the two is replaced. With `--check` nothing is written, and a page that is out of date ends it with 1.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.main import create_app
from app.settings import Settings

HERE = Path(__file__).parent
PAGES = ("http.md", "settings.md")
BLOCK = re.compile(r"<!-- (settings|paths|fields): ?(\w*) -->\n.*?<!-- end -->", flags=re.DOTALL)
# The default depends on the machine.
PROCESSORS = ("search_threads", "number of processors")


class Reference:
    """The tables that the pages ask for; `sections` says under which heading the fields of an object stand."""

    def __init__(self, document: dict[str, Any], sections: dict[str, str]) -> None:
        self._paths = document["paths"]
        self._schemas = document["components"]["schemas"]
        self._sections = sections

    def table(self, kind: str, name: str) -> str:
        rows = {"settings": self._settings, "paths": self._operations}.get(kind) or (lambda: self._fields(name))
        lines = [f"| {' | '.join(row)} |".replace("  |", " |") for row in rows()]
        return "\n".join((lines[0], "|---" * (lines[0].count("|") - 1) + "|", *lines[1:]))

    def _settings(self) -> Iterator[tuple[str, ...]]:
        yield "variable", "default", "meaning"
        for name, field in Settings.model_fields.items():
            default = PROCESSORS[1] if name == PROCESSORS[0] else _default(field.default)
            yield f"`FLIPSET_{name.upper()}`", default, field.description or ""

    def _operations(self) -> Iterator[tuple[str, ...]]:
        yield "path", "what it does", "answers"
        for path, operations in self._paths.items():
            for method, operation in operations.items():
                yield f"`{method.upper()} {path}`", operation["summary"], ", ".join(sorted(operation["responses"]))

    def _fields(self, name: str) -> Iterator[tuple[str, ...]]:
        schema = self._schemas[name]
        yield "field", "type", "meaning"
        for field, described in schema["properties"].items():
            optional = "" if field in schema.get("required", ()) else ", optional"
            default = described.get("default")
            given = f", default `{default}`" if isinstance(default, str | int | float) else ""
            yield f"`{field}`", self._type(described) + (given or optional), described.get("description", "")

    def _type(self, schema: dict[str, Any]) -> str:
        if "$ref" in schema:
            return self._named(schema["$ref"].rpartition("/")[2])
        if "anyOf" in schema:
            return _either([self._type(part) for part in schema["anyOf"]])
        if "const" in schema:
            return f"`{str(schema['const']).lower() if isinstance(schema['const'], bool) else schema['const']}`"
        if "enum" in schema:
            return _either([f"`{value}`" for value in schema["enum"]])
        types = schema.get("type", "any value")
        return _either(types) if isinstance(types, list) else self._plain(types, schema)

    def _plain(self, name: str, schema: dict[str, Any]) -> str:
        inside = schema.get("additionalProperties")
        if name == "array":
            return f"list of {self._type(schema['items'])}"
        if name == "object" and isinstance(inside, dict):
            return f"object of {self._type(inside)}"
        if "properties" in schema:
            return f"`{{{', '.join(schema['properties'])}}}`"
        bounds = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤"}
        said = [f"{sign} {schema[key]:,.0f}" for key, sign in bounds.items() if key in schema]
        return " ".join(["time" if schema.get("format") == "date-time" else name, *said])

    def _named(self, name: str) -> str:
        schema = self._schemas[name]
        if "enum" in schema:
            return self._type(schema)
        heading = self._sections[name]
        return f"[{re.sub('^(The|An?|One) ', '', heading).lower()}](#{anchor(heading)})"


def _either(parts: list[str]) -> str:
    """`a, b or c`, each part once."""
    *others, last = dict.fromkeys(parts)
    return f"{', '.join(others)} or {last}" if others else last


def anchor(heading: str) -> str:
    """The fragment that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _default(value: Any) -> str:
    if value in (None, (), ""):
        return "unset"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def sections_of(page: str) -> dict[str, str]:
    """The heading above the fields of each object."""
    found: dict[str, str] = {}
    heading = ""
    for line in page.splitlines():
        if line.startswith("#"):
            heading = line.lstrip("#").strip()
        if match := re.match(r"<!-- fields: (\w+) -->", line):
            found[match[1]] = heading.replace("`", "")
    return found


def written(page: str, document: dict[str, Any]) -> str:
    """The page with its tables as the code has them now."""
    reference = Reference(document, sections_of(page))

    def block(match: re.Match[str]) -> str:
        return f"{match[0].splitlines()[0]}\n{reference.table(match[1], match[2])}\n<!-- end -->"

    return BLOCK.sub(block, page)


def main() -> int:
    document = create_app(Settings()).openapi()
    old = {name: (HERE / name).read_text() for name in PAGES}
    stale = {name: new for name, page in old.items() if (new := written(page, document)) != page}
    if "--check" in sys.argv:
        sys.stderr.write("".join(f"docs/{name} is out of date: run make docs\n" for name in stale))
        return 1 if stale else 0
    for name, new in stale.items():
        (HERE / name).write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
