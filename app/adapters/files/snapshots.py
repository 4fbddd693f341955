"""A snapshot: the files of the folders as they were at one moment, so that the service serves what it has tried.

It reads only plain files inside the folders, up to a limit of size.
"""

import errno
import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.adapters.files.flaws import BrokenFiles, Flaw

# The record of versions: app/adapters/files/versions.py.
LOCK = "versions.lock"
# Where translations are unless a setting says otherwise; there need not be any.
LOCALES = Path("locales")
# Descriptions, registries, examples and translations.
MOST_TEXT_BYTES = 4 * 2**20
# A graph, unless a setting says otherwise.
MOST_GRAPH_BYTES = 256 * 2**20


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The files that were read, by path, and why the others were not."""

    models_dir: Path
    normal_ranges_dir: Path
    contents: Mapping[Path, bytes] = field(repr=False)
    unread: Mapping[Path, str]
    model_folders: tuple[Path, ...]
    registries: tuple[Path, ...]
    # Where models live whose descriptions do not say so.
    predictor_url: str | None = None
    # Translations, one file a language.
    locales: tuple[Path, ...] = ()

    def read(self, file: Path) -> bytes:
        """The content of a file, or `BrokenFiles` with the reason why there is none."""
        if file in self.contents:
            return self.contents[file]
        reason = self.unread.get(file.parent) or self.unread.get(file) or os.strerror(errno.ENOENT)
        raise BrokenFiles([Flaw(file.parent if file.parent in self.unread else file, "", reason)])

    def examples(self, folder: Path) -> list[Path]:
        """The files of a folder of examples, those that could not be read included."""
        return sorted(file for file in (*self.contents, *self.unread) if folder in (file.parent, file))


def take_snapshot(
    models_dir: Path,
    normal_ranges_dir: Path,
    most_graph_bytes: int = MOST_GRAPH_BYTES,
    predictor_url: str | None = None,
    locales_dir: Path | None = None,
) -> Snapshot:
    """Read everything that is to be served; `BrokenFiles` if a folder does not exist."""
    folders = {"FLIPSET_MODELS_DIR": models_dir, "FLIPSET_NORMAL_RANGES_DIR": normal_ranges_dir}
    if locales_dir is not None and locales_dir != LOCALES:
        folders["FLIPSET_LOCALES_DIR"] = locales_dir
    lacking = [
        Flaw(folder, "", f"is not a folder; set {variable} to the right one")
        for variable, folder in folders.items()
        if not folder.is_dir()
    ]
    if lacking:
        raise BrokenFiles(lacking)
    reader = _Reader(most_graph_bytes)
    try:
        models = tuple(sorted(path for path in models_dir.iterdir() if path.is_dir() and not path.name.startswith(".")))
    except OSError as error:
        raise BrokenFiles([Flaw(models_dir, "", _reason(error))]) from None
    for folder in models:
        reader.take_model(folder, models_dir)
    registries = tuple(sorted(normal_ranges_dir.glob("*.toml"), key=lambda file: file.stem))
    reader.take(registries, normal_ranges_dir, MOST_TEXT_BYTES)
    for root in (models_dir, normal_ranges_dir):
        reader.take(root.glob(LOCK), root, MOST_TEXT_BYTES)
    locales = () if locales_dir is None else tuple(sorted(locales_dir.glob("*.toml")))
    if locales_dir is not None:
        reader.take(locales, locales_dir, MOST_TEXT_BYTES)
    return Snapshot(
        models_dir, normal_ranges_dir, reader.contents, reader.unread, models, registries, predictor_url, locales
    )


class _Reader:
    """Reads files into memory, and records why some cannot be read."""

    def __init__(self, most_graph_bytes: int) -> None:
        self._most_graph_bytes = most_graph_bytes
        self.contents: dict[Path, bytes] = {}
        self.unread: dict[Path, str] = {}

    def take_model(self, folder: Path, models_dir: Path) -> None:
        try:
            self._take_model(folder, models_dir)
        except (OSError, RuntimeError) as error:
            self.unread[folder] = _reason(error)

    def _take_model(self, folder: Path, models_dir: Path) -> None:
        if not _is_inside(folder, models_dir):
            self.unread[folder] = _leads_out(models_dir)
            return
        self.take([folder / "model.onnx"], models_dir, self._most_graph_bytes)
        self.take([folder / "model.toml"], models_dir, MOST_TEXT_BYTES)
        examples = folder / "examples"
        if examples.is_dir() and not _is_inside(examples, models_dir):
            self.unread[examples] = _leads_out(models_dir)
        else:
            self.take(examples.glob("*.json"), models_dir, MOST_TEXT_BYTES)

    def take(self, files: Iterable[Path], root: Path, most_bytes: int) -> None:
        for file in files:
            try:
                if _is_inside(file, root):
                    self.contents[file] = _plain_content(file, most_bytes)
                else:
                    self.unread[file] = _leads_out(root)
            except _Refused as refused:
                self.unread[file] = str(refused)
            except (OSError, RuntimeError) as error:
                self.unread[file] = _reason(error)


def _reason(error: OSError | RuntimeError) -> str:
    """Why a path cannot be read; up to Python 3.12 links that lead in a circle are a RuntimeError."""
    if isinstance(error, OSError):
        return error.strerror or "cannot be read"
    return "is a symbolic link that leads to itself"


class _Refused(Exception):
    """A file that Flipset refuses to read; the text is the reason."""


def _is_inside(path: Path, root: Path) -> bool:
    """Whether a path, with every symbolic link followed, stays in the folder."""
    return path.resolve().is_relative_to(root.resolve())


def _leads_out(root: Path) -> str:
    return f"is a symbolic link that leads out of {root}: put the files there instead"


def _plain_content(file: Path, most_bytes: int) -> bytes:
    # Without O_NONBLOCK, opening a pipe would wait for a writer.
    number = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(number, "rb") as opened:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise _Refused("is not a plain file")
        content = opened.read(most_bytes + 1)
    if len(content) > most_bytes:
        hint = "; raise FLIPSET_MODEL_FILE_MB to allow it" if file.suffix == ".onnx" else ""
        raise _Refused(f"is larger than {most_bytes / 2**20:g} MB{hint}")
    return content
