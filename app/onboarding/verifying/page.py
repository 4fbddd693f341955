"""The same as one self-contained page, in the style of the report on a register."""

from collections.abc import Sequence

from app.adapters.rules.registries import Registry
from app.cohorts.report.elements import document, facts, note, paragraph, section, table, warning
from app.cohorts.report.markup import Content, Markup, element
from app.cohorts.report.wording import NONE, interval, number, percent
from app.onboarding.verifying.counting import Verified, rule_of_20

# Words begin on the left, and break only where there is much of them.
OWN = Markup("""
header { padding-bottom: 1rem; }
th:nth-child(2), th:nth-child(n + 6) { text-align: left; }
tbody th { min-width: 5rem; }
td .words { width: max-content; max-width: 24rem; }
""")
HEAD = ["Feature", "Group", "People", "Outside", "95 % interval", "First 20", "Verdict"]


def page(registry: Registry, about: str, group: str, found: Sequence[Verified], lacking: Sequence[str]) -> str:
    title = f"Do these ranges fit? {registry.title}"
    named = [("Registry", f"{registry.name} {registry.version}"), ("Table", about), ("Reference group", group)]
    main = [
        section("about", "What this is about", facts([*named, ("SHA-256 of the registry", registry.sha256)])),
        section(
            "ranges",
            "Shares outside",
            paragraph("A range that fits leaves about 5 % of healthy people outside. First 20: the rule of EP28-A3c."),
            warning("a reference group of ill people makes any range look wrong."),
            table("verified", "People outside of their range", HEAD, map(_row, found)),
            *(note(f"Not verified: {line}.") for line in lacking),
        ),
    ]
    return document(title, main, own_style=OWN)


def _row(each: Verified) -> tuple[Content, ...]:
    share = (NONE, NONE) if each.share is None else (percent(each.share.value), interval(each.share))
    group, first, verdict = (
        element("span", text, class_="words") for text in (each.group, rule_of_20(each.first_outside), each.verdict)
    )
    return (each.feature, group, number(each.outside.of), *share, first, verdict)
