"""What a person does on the page, finds there by its name, and should see according to the API."""

import re
import ssl
from typing import Any, TypeVar

from playwright.sync_api import Locator, Page, Route, expect

from tests.support.live_server import LiveServer
from tests.support.waiting import eventually

# A title of each feature of the model mortgage that can move in its example "several ways".
DEBT = "Debt payments to income"
HOUSING = "Housing expense to income"
LOAN = "Loan to property value"
CREDIT = "Consumer credit history, 1 (best) to 6"
# What sentences call them.
SPOKEN = {
    DEBT: "debt-to-income",
    HOUSING: "housing-to-income",
    LOAN: "loan-to-value",
    CREDIT: "credit history (1 is best)",
}

# Without the certificates that httpx would read for every client: no server here speaks TLS.
NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

Answer = dict[str, Any]
T = TypeVar("T")


def answer_to(server: LiveServer, model: str, request: dict[str, Any]) -> Answer:
    """What the API answers: start, counterfactuals and summary."""
    with server.client(headers={"accept": "application/json"}, verify=NO_CERTIFICATES) as client:
        response = client.post(f"/v1/models/{model}/counterfactuals", json=request)
    assert response.status_code == 200, response.text
    return response.json()


def subsets_of(server: LiveServer, model: str, request: dict[str, Any]) -> list[dict[str, Any]]:
    """What the API says of every subset of the movable features."""
    with server.client(verify=NO_CERTIFICATES) as client:
        return client.post(f"/v1/models/{model}/subsets", json=request).json()["subsets"]


def example_of(server: LiveServer, model: str, name: str) -> dict[str, Any]:
    """The request of an example, as the API tells it."""
    with server.client(verify=NO_CERTIFICATES) as client:
        examples = client.get(f"/v1/models/{model}/examples").json()["examples"]
    return next(example["request"] for example in examples if example["name"] == name)


def choose_model(page: Page, title: str) -> None:
    page.get_by_label("Model", exact=True).select_option(label=title)


def example(page: Page, name: str) -> Locator:
    return page.get_by_role("group", name="Examples").get_by_role("button", name=name)


def open_model(page: Page, model: str, path: str = "/") -> None:
    """The page with a model and nobody to ask about yet."""
    # From nowhere: on the page itself only the fragment would change, and what was open stay there for a moment.
    if page.url != "about:blank":
        page.goto("about:blank")
    page.goto(f"{path}#model={model}")
    expect(region(page, "Values").get_by_role("listitem").first).to_be_visible()


def visit(page: Page, model: str = "mortgage", person: str = "several ways", path: str = "/") -> None:
    """Open the page, choose a model and an example, and wait until the search has ended."""
    open_model(page, model, path)
    example(page, person).click()
    await_the_end(page)


def await_the_end(page: Page) -> None:
    """Only then can something be taken away."""
    expect(page.get_by_role("region", name="Share and print")).to_be_visible()


def region(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=True)


def verdict(page: Page) -> Locator:
    """The strip with what the model says now, and what would change it."""
    return page.get_by_role("region", name=re.compile("^(Decision|Finding)$"))


def tab(page: Page, name: str) -> Locator:
    """Plans, counts or picture."""
    return page.get_by_role("group", name="Show").get_by_role("button", name=name)


def row(page: Page, title: str) -> Locator:
    """All that belongs to one feature in the form."""
    return region(page, "Values").get_by_role("listitem").filter(has=field(page, title))


def field(page: Page, title: str) -> Locator:
    return page.get_by_label(title, exact=True)


def lock(page: Page, title: str) -> Locator:
    return page.get_by_role("button", name=re.compile(f"^Lock(ed)? {re.escape(title)}$"))


def rules(page: Page) -> Locator:
    return page.get_by_role("list", name="Rules in force").get_by_role("listitem")


def add_rule(page: Page, one: str, kind: str, other: str | None = None, most: str | None = None) -> None:
    """Through the dialogue."""
    region(page, "Rules").get_by_role("button", name="Connect two values").click()
    dialog = page.get_by_role("dialog", name="Add a rule")
    dialog.get_by_label("Value", exact=True).select_option(label=one)
    dialog.get_by_label("Rule", exact=True).select_option(label=kind)
    if other is not None:
        dialog.get_by_label("the other value").select_option(label=other)
    if most is not None:
        dialog.get_by_label("by at most").fill(most)
    dialog.get_by_role("button", name="Add").click()


def paste(page: Page, text: str) -> Locator:
    """The dialogue, which has closed if the text was understood."""
    page.get_by_role("button", name="Paste values").click()
    dialog = page.get_by_role("dialog", name="Paste values")
    dialog.get_by_label("Values", exact=True).fill(text)
    dialog.get_by_role("button", name="Use these values").click()
    return dialog


def open_options(page: Page) -> None:
    page.get_by_text("Ranges, threshold, time limit, plans that hold").click()


def cards(page: Page) -> Locator:
    heading = page.get_by_role("heading", name=re.compile(r"^Plan \d+$"))
    return page.get_by_role("list", name="Plans").get_by_role("listitem").filter(has=heading)


def keep(page: Page, name: int) -> Locator:
    return page.get_by_role("button", name=re.compile(f"^(Keep|Kept) plan {name}$"))


def expect_plans(page: Page, answer: Answer, order: list[int] | None = None) -> None:
    """A card for each counterfactual of the API's answer, or for those of these ranks, in this order."""
    plans = answer["counterfactuals"]
    wanted = plans if order is None else [plans[rank - 1] for rank in order]
    expect(cards(page)).to_have_text([_card(plan) for plan in wanted])


def _card(plan: dict[str, Any]) -> re.Pattern[str]:
    changes = [
        f"{re.escape(change['title'] or change['feature'])}{_value(change['from'])} .*? {_value(change['to'])}"
        for change in plan["changes"]
    ]
    label = plan["prediction"]["label"]
    score = re.escape(f"{plan['prediction']['score']:.3f}")
    size = f"{len(plan['changes'])} changes?"
    # Its name is that of the first answer which it was in.
    return re.compile(rf"^Plan \d+{size}.*{'.*'.join(changes)}.*{f'{label} ' if label else ''}{score}")


def _value(value: float | str | None) -> str:
    """As JavaScript writes it: no .0 behind a whole number."""
    if value is None:
        return "missing"
    return re.escape(str(int(value) if isinstance(value, float) and value.is_integer() else value))


def hold(page: Page, path: str) -> list[Route]:
    """Requests that wait until they are let through."""
    held: list[Route] = []

    def store(route: Route) -> None:
        held.append(route)

    page.route(path, store)
    return held


def come(page: Page, held: list[T]) -> list[T]:
    """The requests that are held, once there is one: Playwright tells of them only while it is at work."""

    def look() -> list[T]:
        page.wait_for_timeout(20)
        return held

    return eventually(look)


def focused_name(page: Page) -> str:
    """What has the focus: `body` where it was lost."""
    return page.evaluate(
        "() => document.activeElement === document.body ? 'body'"
        " : document.activeElement.getAttribute('aria-label') || document.activeElement.textContent.trim()"
        " || document.activeElement.id"
    )
