"""The page in a real browser: when the first plan and sentence are there, and whether thousands make it stutter."""

from collections.abc import Iterator
from statistics import median

from playwright.sync_api import Browser, Page

from lab.benchmarks.figures import Figure, agreed
from lab.benchmarks.requests.asking import PLENTY_OF_TIME
from lab.benchmarks.workshop import Workshop
from tests.support.live_server import LiveServer, live_server
from tests.web.support.browser import STILL, Watch, find_browser, launched, new_page
from tests.web.support.made_up import write_made_up

# From the press of a button to the frame behind the one in which a plan, or a sentence, is painted.
FIRST = """
async ([what, name]) => {
  performance.clearMarks(`flipset:first-${what}`);
  const buttons = [...document.querySelectorAll(".examples button")];
  const button = buttons.find((one) => one.textContent.toLowerCase() === name);
  const began = performance.now();
  button.click();
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    const [painted] = performance.getEntriesByName(`flipset:first-${what}`);
    if (painted) return painted.startTime - began;
    if (performance.now() - began > 120000) return null;
  }
}
"""
PATIENCE_MS = 120_000
EXAMPLES = ("already favourable", "exactly one way", "no way out", "several ways")
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
            yield _first_sentence(workshop, browser, shipped)
        folder = workshop.models.parent / "made-up"
        write_made_up(folder)
        with live_server(folder / "models", folder / "ranges", **PLENTY_OF_TIME) as made_up:
            yield from _many_plans(workshop, browser, made_up)


def _first_plan(workshop: Workshop, browser: Browser, server: LiveServer) -> Figure:
    # Those without a plan have nothing to show.
    medians = _medians(workshop, browser, server, "plan", ("exactly one way", "several ways"))
    title = "first plan on the screen, the slowest of the shipped examples"
    return Figure("page.first_plan", title, "at most", 300, max(medians.values()), "ms", {"medians_ms": medians})


def _first_sentence(workshop: Workshop, browser: Browser, server: LiveServer) -> Figure:
    medians = _medians(workshop, browser, server, "sentence", EXAMPLES)
    title = "first sentence on the screen, the slowest of the shipped examples"
    return Figure("page.first_sentence", title, "at most", 300, max(medians.values()), "ms", {"medians_ms": medians})


def _medians(
    workshop: Workshop, browser: Browser, server: LiveServer, what: str, examples: tuple[str, ...]
) -> dict[str, float]:
    with server.client() as client:
        names = [model["name"] for model in client.get("/v1/models").json()["models"]]
        # A second version has no examples to press.
        models = [name for name in names if client.get(f"/v1/models/{name}/examples").json()["examples"]]
    medians = {}
    for model in workshop.track(models, f"page: first {what}"):
        page = _opened(browser, server, model)
        for example in examples:
            times = [page.evaluate(FIRST, [what, example]) for _ in range(workshop.sizes.repeats)]
            agreed(None not in times, f"page: {model}, {example}: there is a {what}")
            medians[f"{model}, {example}"] = round(median(times), 1)
        page.context.close()
    return medians


def _many_plans(workshop: Workshop, browser: Browser, server: LiveServer) -> Iterator[Figure]:
    """Thirty values, and as many plans as the page asks for."""
    longest: list[float] = []
    first: list[float] = []
    for _ in workshop.track(range(workshop.sizes.repeats), "page: many plans"):
        page = _opened(browser, server, "many")
        page.evaluate(LONG_TASKS)
        first.append(page.evaluate(FIRST, ["sentence", "some low"]))
        # It appears when the last plan is there.
        page.get_by_role("region", name="Share and print").wait_for(timeout=PATIENCE_MS)
        agreed(page.get_by_text("10,000 plans", exact=True).is_visible(), "page: all plans are there")
        longest.append(max(page.evaluate("window.longTasks()"), default=0))
        page.context.close()
    title = "first sentence of 30 values and 10,000 plans"
    yield Figure("page.many_sentence", title, "at most", 1000, round(median(first), 1), "ms", {"each_ms": first})
    title = "longest task while 10,000 plans stream in"
    yield Figure("page.longest_task", title, "at most", 100, max(longest), "ms", {"each_ms": longest})


def _opened(browser: Browser, server: LiveServer, model: str) -> Page:
    page = new_page(browser, Watch(), server.url, **STILL)
    page.goto(f"/#model={model}")
    page.locator(".examples button").first.wait_for()
    return page
