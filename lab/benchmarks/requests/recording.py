"""Requests a second with records of every answer, against the same without: what keeping them costs."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from statistics import median

from lab.benchmarks.figures import Figure
from lab.benchmarks.requests.load import rate
from lab.benchmarks.requests.request_rates import COUNTERFACTUALS, PERSON, Side
from lab.benchmarks.workshop import Workshop
from tests.support.live_server import live_server
from tests.support.postgres import INITDB, postgres

LEAST = 0.8
STORES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}


def figures(workshop: Workshop) -> Iterator[Figure]:
    """Two workers, one for each of two processors; all servers are up at once, and take turns."""
    body = PERSON.read_text(encoding="utf-8")
    with ExitStack() as running:
        addresses = {"sqlite": f"sqlite:///{workshop.folder / 'records.db'}"}
        if INITDB is not None:
            addresses["postgresql"] = running.enter_context(postgres()).new_database()
        sides = {"off": Side(running.enter_context(live_server(workers="2")).url, COUNTERFACTUALS, body)}
        for store, address in addresses.items():
            server = running.enter_context(live_server(workers="2", records=address, record_all="true"))
            sides[store] = Side(server.url, COUNTERFACTUALS, json.dumps(json.loads(body)))
        for side in sides.values():
            rate(side.load(workshop.sizes.load_seconds / 4))
        measured = [
            {name: rate(side.load(workshop.sizes.load_seconds)) for name, side in sides.items()}
            for _ in workshop.track(range(workshop.sizes.load_rounds), "requests a second with records")
        ]
    rates = {name: median(each[name] for each in measured) for name in sides}
    details = {"requests_a_second": {name: round(each, 1) for name, each in rates.items()}}
    for store in addresses:
        ratio = median(each[store] / each["off"] for each in measured)
        title = f"requests a second, hcv, with records in {STORES[store]}: against without"
        yield Figure(f"records.{store}", title, "at least", LEAST, ratio, "of the rate", details)
