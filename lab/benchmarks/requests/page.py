"""The page in a real browser: when the first plan is on the screen, and whether thousands of them make it stutter."""

from collections.abc import Iterator
from statistics import median

from playwright.sync_api import Browser, Page

from lab.benchmarks.figures import Figure, agreed
from lab.benchmarks.requests.asking import PLENTY_OF_TIME
from lab.benchmarks.workshop import Workshop
from tests.support.live_server import LiveServer, live_server
from tests.web.support.browser import STILL, Watch, find_browser, launched, new_page
from tests.web.support.made_up import WIDE_PLANS, write_made_up

# From the press of a button to the frame behind the one in which a plan is painted.
FIRST_PLAN = """
async (name) => {
  performance.clearMarks("flipset:first-plan");
  const button = [...document.querySelectorAll(".examples button")].find((one) => one.textContent === name);
  const began = performance.now();
  button.click();
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    const [painted] = performance.getEntriesByName("flipset:first-plan");
    if (painted && document.querySelector(".plan")) return painted.startTime - began;
    if (performance.now() - began > 120000) return null;
  }
}
"""
PATIENCE_MS = 120_000
# A browser tells of tasks from 50 ms on.
LONG_TASKS = """
() => {
  const seen = [];
  const observer = new PerformanceObserver((list) => seen.push(...list.getEntries()));
  observer.observe({ type: "longtask" });
  window.longTasks = () => [...seen, ...observer.takeRecords()].map((entry) => entry.duration);
}
"""


def figures(workshop: Workshop) -> Iterator[Figure]:
    program = find_browser()
    if program is None:
        return
    with launched(program) as browser:
        with live_server() as shipped:
            yield _first_plan(workshop, browser, shipped)
        folder = workshop.models.parent / "made-up"
        write_made_up(folder)
        with live_server(folder / "models", folder / "ranges", **PLENTY_OF_TIME) as made_up:
            yield _longest_task(workshop, browser, made_up)


def _first_plan(workshop: Workshop, browser: Browser, server: LiveServer) -> Figure:
    with server.client() as client:
        names = [model["name"] for model in client.get("/v1/models").json()["models"]]
        # A second version has no examples to press.
        models = [name for name in names if client.get(f"/v1/models/{name}/examples").json()["examples"]]
    medians = {}
    for model in workshop.track(models, "page: first plan"):
        page = _opened(browser, server, model)
        # Those without a plan have nothing to show.
        for example in ("exactly one way", "several ways"):
            times = [page.evaluate(FIRST_PLAN, example) for _ in range(workshop.sizes.repeats)]
            agreed(None not in times, f"page: {model}, {example}: there is a plan")
            medians[f"{model}, {example}"] = round(median(times), 1)
        page.context.close()
    title = "first plan on the screen, the slowest of the shipped examples"
    return Figure("page.first_plan", title, "at most", 300, max(medians.values()), "ms", {"medians_ms": medians})


def _longest_task(workshop: Workshop, browser: Browser, server: LiveServer) -> Figure:
    longest = []
    for _ in workshop.track(range(workshop.sizes.repeats), "page: many plans"):
        page = _opened(browser, server, "wide")
        page.evaluate(LONG_TASKS)
        page.get_by_role("button", name="all low").click()
        # It appears when the last plan is there.
        page.get_by_role("region", name="Take it away").wait_for(timeout=PATIENCE_MS)
        agreed(page.get_by_text(f"{WIDE_PLANS:,} plans", exact=True).is_visible(), "page: all plans are there")
        longest.append(max(page.evaluate("window.longTasks()"), default=0))
        page.context.close()
    title = f"longest task while {WIDE_PLANS:,} plans stream in"
    return Figure("page.longest_task", title, "at most", 200, max(longest), "ms", {"each_ms": longest})


def _opened(browser: Browser, server: LiveServer, model: str) -> Page:
    page = new_page(browser, Watch(), server.url, **STILL)
    page.goto(f"/#model={model}")
    page.locator(".examples button").first.wait_for()
    return page
