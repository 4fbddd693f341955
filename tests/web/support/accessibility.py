"""What axe-core finds wrong with a page for those who do not see it, or do not use a mouse."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

# WCAG 2.2 AA includes the older ones; the size of targets is new in it, and off unless it is asked for.
OPTIONS = {
    "resultTypes": ["violations"],
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "rules": {"target-size": {"enabled": True}},
}
GRAVE = ("serious", "critical")


def findings(page: Page) -> list[str]:
    """Every finding at every place. Playwright runs axe-core from outside of the page, whose policy does not apply."""
    violations = Axe().run(page, options=OPTIONS).response["violations"]
    return [
        f"{violation['impact']}: {violation['id']} at {node['target']}: {node['failureSummary']}"
        for violation in violations
        for node in violation["nodes"]
    ]


def serious_findings(page: Page) -> list[str]:
    return [finding for finding in findings(page) if finding.startswith(GRAVE)]
