"""Writes what is made from something else: the types of the client, and the page's copy of the client.

`make clients` runs it. With `--check` nothing is written, and a file that is out of date ends it with 1.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.main import create_app
from app.settings import Settings

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TYPES = HERE / "src" / "schema.d.ts"
# The page has no build step: it loads the very files that the package holds.
OF_THE_PAGE = ROOT / "app" / "web" / "files" / "client"
HEAD = "// What the service takes and sends, from its /openapi.json. `make clients` writes this file.\n"
PLAIN = {"integer": "number", "number": "number", "string": "string", "boolean": "boolean", "null": "null"}


def types(schemas: dict[str, Any]) -> str:
    """A TypeScript type for each schema of the document."""
    return HEAD + "".join(f"\n{_comment(schema, '')}{_declared(name, schema)}" for name, schema in schemas.items())


def _declared(name: str, schema: dict[str, Any]) -> str:
    if "properties" in schema:
        return f"export interface {name} {_object(schema, '')}\n"
    return f"export type {name} = {_type(schema)};\n"


def _object(schema: dict[str, Any], indent: str) -> str:
    return "{\n" + "".join(_members(schema, f"{indent}  ")) + f"{indent}}}"


def _members(schema: dict[str, Any], indent: str) -> Iterator[str]:
    required = schema.get("required", ())
    for name, described in schema["properties"].items():
        optional = "" if name in required else "?"
        yield f"{_comment(described, indent)}{indent}{name}{optional}: {_type(described, indent)};\n"


def _type(schema: dict[str, Any], indent: str = "") -> str:
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if parts := schema.get("anyOf") or schema.get("oneOf"):
        return " | ".join(dict.fromkeys(_type(part, indent) for part in parts))
    if "const" in schema or "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema.get("enum") or [schema["const"]])
    if isinstance(schema.get("type"), list):
        return " | ".join(PLAIN[name] for name in schema["type"])
    return _plain(schema, indent)


def _plain(schema: dict[str, Any], indent: str) -> str:
    if "properties" in schema:
        return _object(schema, indent)
    if schema.get("type") == "array":
        return f"Array<{_type(schema.get('items', {}), indent)}>"
    if schema.get("type") == "object":
        inside = schema.get("additionalProperties", True)
        return f"Record<string, {_type(inside, indent) if isinstance(inside, dict) else 'unknown'}>"
    return PLAIN.get(schema.get("type", ""), "unknown")


def _comment(schema: dict[str, Any], indent: str) -> str:
    text = " ".join(schema.get("description", "").split())
    return f"{indent}/** {text} */\n" if text else ""


def written() -> dict[Path, str]:
    """What each file should hold."""
    document = create_app(Settings(models_dir=ROOT / "models", normal_ranges_dir=ROOT / "normal_ranges")).openapi()
    copies = {OF_THE_PAGE / file.name: file.read_text(encoding="utf-8") for file in sorted(HERE.glob("src/*.js"))}
    return {TYPES: types(document["components"]["schemas"]), **copies}


def main() -> None:
    wanted = written()
    stale = [file for file, text in wanted.items() if not file.exists() or file.read_text(encoding="utf-8") != text]
    left_over = [file for file in OF_THE_PAGE.glob("*") if file not in wanted]
    if "--check" in sys.argv:
        names = [file.relative_to(ROOT).as_posix() for file in [*stale, *left_over]]
        sys.exit(f"Out of date: {', '.join(names)}. Run: make clients" if names else 0)
    OF_THE_PAGE.mkdir(exist_ok=True)
    for file in stale:
        file.write_text(wanted[file], encoding="utf-8")
    for file in left_over:
        file.unlink()


if __name__ == "__main__":
    main()
