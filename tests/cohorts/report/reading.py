"""A page as a test reads it: its tables, its words, its figures. It is well-formed XML too."""

from pathlib import Path
from xml.etree import ElementTree

from app.cohorts.report.writing import write_report


class Page:
    """A report that was written."""

    def __init__(self, file: Path) -> None:
        self.source = file.read_text(encoding="utf-8")
        self.root = ElementTree.fromstring(self.source)  # noqa: S314 - the same

    @property
    def words(self) -> str:
        """All that is read, with plain spaces."""
        return _plain("".join(self._body().itertext()))

    def table(self, caption: str) -> list[list[str]]:
        """The rows below the head of the one table with this caption."""
        [found] = [one for one in self.root.iter("table") if _plain(one.findtext("caption")) == caption]
        return [[_plain("".join(cell.itertext())) for cell in row] for row in found.iterfind("tbody/tr")]

    def section(self, name: str) -> str:
        [found] = [one for one in self.root.iter("section") if one.get("id") == name]
        return _plain("".join(found.itertext()))

    def all(self, name: str) -> list[ElementTree.Element]:
        return list(self.root.iter(name))

    def _body(self) -> ElementTree.Element:
        body = self.root.find("body")
        assert body is not None
        return body


def report_on(folder: Path, *by: str) -> Page:
    write_report(folder, folder / "report.html", by)
    return Page(folder / "report.html")


def _plain(text: str | None) -> str:
    return " ".join((text or "").replace("\u00a0", " ").split())
