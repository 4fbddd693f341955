"""Versions: a version stands for one content. Flipset warns if a file has changed and its version has not.

What a version held is known from what was served before, and from `versions.lock` in the folders of the models and of
the registries, which `flipset validate --lock` writes. Nothing here loads a model.
"""

import hashlib
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.adapters.files.flaws import BrokenFiles, Flaw
from app.adapters.files.names import listed
from app.adapters.files.snapshots import LOCK, Snapshot
from app.adapters.files.toml_files import Entry, quoted, read_toml

HEADER = "# What each version holds, by SHA-256: written by `flipset validate --lock`. Keep it with the files.\n"

# The digests of files, by the version that they have, by the name of the model or registry.
Contents = Mapping[str, Mapping[str, Mapping[str, str]]]


class LockEntry(Entry):
    """A `versions.lock`."""

    versions: dict[str, dict[str, dict[str, str]]] = {}


@dataclass(frozen=True, slots=True)
class Versioned:
    """A model or a registry: its version, the file that says it, and the digests of all files that it stands for."""

    name: str
    version: str
    folder: Path
    file: Path
    digests: Mapping[str, str]


def versions_in(snapshot: Snapshot) -> list[Versioned]:
    """All models and registries that have a version; others are reported elsewhere."""
    models = [
        _versioned(snapshot, folder.name, snapshot.models_dir, [folder / "model.toml", folder / "model.onnx"])
        for folder in snapshot.model_folders
    ]
    registries = [_versioned(snapshot, file.stem, snapshot.normal_ranges_dir, [file]) for file in snapshot.registries]
    return [each for each in (*models, *registries) if each is not None]


def _versioned(snapshot: Snapshot, name: str, folder: Path, files: Sequence[Path]) -> Versioned | None:
    contents = {file: snapshot.contents[file] for file in files if file in snapshot.contents}
    try:
        version = tomllib.loads(contents.get(files[0], b"").decode("utf-8").replace("\r\n", "\n")).get("version")
    except (ValueError, RecursionError):
        return None
    digests = {str(file.relative_to(folder)): hashlib.sha256(content).hexdigest() for file, content in contents.items()}
    return Versioned(name, version, folder, files[0], digests) if isinstance(version, str) else None


def contents_of(versions: Iterable[Versioned]) -> Contents:
    """What each version holds."""
    contents: dict[str, dict[str, dict[str, str]]] = {}
    for each in versions:
        contents.setdefault(each.name, {}).setdefault(each.version, {}).update(each.digests)
    return contents


def changed(versions: Iterable[Versioned], known: Contents, since: str) -> Iterator[Flaw]:
    """The versions whose files are not what they were: `since` says when that was."""
    for each in versions:
        before = known.get(each.name, {}).get(each.version, {})
        files = [file for file, digest in each.digests.items() if before.get(file, digest) != digest]
        if files:
            has = "has" if len(files) == 1 else "have"
            reason = f"is {each.version!r} as before, but {listed(files)} {has} changed since it was {since}"
            yield Flaw(each.file, "version", f"{reason}; change the version")


def doubtful(snapshot: Snapshot, served: Snapshot | None = None) -> tuple[Flaw, ...]:
    """The versions whose files are not what was served under them, or what the locks say; `BrokenFiles` for a lock."""
    versions = versions_in(snapshot)
    locked = read_locks(snapshot)
    before = {} if served is None else contents_of(versions_in(served))
    found = [*changed(versions, before, "served"), *changed(versions, locked, "recorded")]
    return tuple({flaw.file: flaw for flaw in reversed(found)}.values())[::-1]


def read_locks(snapshot: Snapshot) -> Contents:
    """What the locks of both folders hold; `BrokenFiles` where one cannot be read."""
    locked: dict[str, dict[str, dict[str, str]]] = {}
    for file in _locks(snapshot):
        if file in snapshot.contents or file in snapshot.unread:
            for name, versions in read_toml(file, snapshot.read(file), LockEntry).versions.items():
                for version, digests in versions.items():
                    locked.setdefault(name, {}).setdefault(version, {}).update(digests)
    return locked


def write_locks(snapshot: Snapshot, versions: Sequence[Versioned]) -> list[Path]:
    """Record what each version holds now, in addition to what was recorded before."""
    files = _locks(snapshot)
    for file in files:
        before = read_toml(file, snapshot.contents[file], LockEntry).versions if file in snapshot.contents else {}
        now = contents_of(each for each in versions if each.folder == file.parent)
        merged = {name: {**before.get(name, {}), **now.get(name, {})} for name in sorted({*before, *now})}
        try:
            file.write_text(HEADER + "".join(_tables(merged)), encoding="utf-8")
        except OSError as error:
            raise BrokenFiles([Flaw(file, "", f"cannot be written: {error.strerror}")]) from None
    return files


def _locks(snapshot: Snapshot) -> list[Path]:
    return [folder / LOCK for folder in dict.fromkeys((snapshot.models_dir, snapshot.normal_ranges_dir))]


def _tables(contents: Contents) -> Iterator[str]:
    for name, versions in contents.items():
        for version, digests in versions.items():
            lines = [f"{quoted(file)} = {quoted(digest)}" for file, digest in sorted(digests.items())]
            yield "\n".join(("", f"[versions.{quoted(name)}.{quoted(version)}]", *lines, ""))
