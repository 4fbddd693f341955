"""Writes requirements/hashes/image.txt: what the image installs, with the digest of every file that may be chosen.

`make hashes` runs it after a version has moved. The digests come from the package index that pip is set to.
"""

import re
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
# What the Dockerfile installs.
SOURCES = ("service.txt", "cohort.txt", "predictors.txt", "records.txt", "cds.txt")
OUT = HERE / "hashes" / "image.txt"
HEADER = "# What the image installs, with the digests of its files: written by `make hashes` from {}.\n"
# Files of other interpreters and systems are left out, and archives of source, which would have to be built.
SUITABLE = re.compile(r"(py3|py2\.py3|cp3(11|12|13|14)|abi3)-.*(any|manylinux.*(x86_64|aarch64).*)\.whl$")
LINK = re.compile(r"([^/\"]+\.whl)#sha256=([0-9a-f]{64})")


def pins() -> dict[str, str]:
    """The versions, by package."""
    lines = [line for source in SOURCES for line in (HERE / source).read_text().splitlines()]
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def digests(index: str, package: str, version: str) -> Iterator[str]:
    """The digests of the wheels of one version, as the page of its package has them (PEP 503)."""
    name = normalised(package)
    request = urllib.request.Request(f"{index.rstrip('/')}/{name}/", headers={"Accept": "text/html"})  # noqa: S310
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310  # the index that pip itself asks
        page = urllib.parse.unquote(answer.read().decode())
    for file, digest in LINK.findall(page):
        owner, of, *_ = file.split("-")
        if (normalised(owner), of) == (name, version) and SUITABLE.search(file):
            yield digest


def normalised(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package).lower()


def main() -> None:
    command = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    asked = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    index = asked.stdout.strip() or "https://pypi.org/simple"
    parts = [HEADER.format(", ".join(SOURCES))]
    for package, version in sorted(pins().items(), key=lambda pin: pin[0].lower()):
        found = sorted(set(digests(index, package, version)))
        if not found:
            sys.exit(f"The index has no wheel of {package} {version}.")
        lines = [f"{package}=={version}", *(f"--hash=sha256:{digest}" for digest in found)]
        parts.append(" \\\n    ".join(lines) + "\n")
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text("".join(parts))


if __name__ == "__main__":
    main()
