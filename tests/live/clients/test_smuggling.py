"""Two clients behind a proxy that keeps its connection: nothing that the first sends gives the next a wrong answer."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from app.processes.wire.protocol import Bounded, BoundedH11, BoundedHttpTools, Door
from tests.live.clients.odd_requests import OddRequests
from tests.live.clients.strict_proxy import CLOSED, Answer, Dialect, Proxy, read_answer
from tests.live.clients.test_access import add_key
from tests.live.clients.within import served
from tests.support.live_server import ROOT
from tests.support.scale import scaled
from tests.support.seeds import Seeds

AT_ONCE = 32
# Some answers never come: the service waits for the rest of a request. The proxy then gives up, and closes: after this
# time, or after so many times what an answer takes where nobody else asks, if the machine is busy.
PROXY_PATIENCE = 2.0
MANY_TIMES = 500
EXAMPLE = next((ROOT / "models/hcv/examples").glob("*.json"))
BODY = json.dumps({"instance": json.loads(EXAMPLE.read_text())["instance"]}).encode()


@dataclass
class Behind:
    """Where the service listens, and who may ask."""

    port: int
    key: bytes
    patience: float = PROXY_PATIENCE
    answers: dict[bytes, bytes] = field(default_factory=dict)
    firsts: Counter[int | str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)

    def request(self, start: bytes, request_id: bytes, body: bytes = b"") -> bytes:
        head = b"%b HTTP/1.1\r\nHost: here\r\nX-Request-ID: %b\r\nAuthorization: Bearer %b\r\n" % (
            *(start, request_id, self.key),
        )
        return head + b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


@pytest.fixture(scope="module", params=[BoundedHttpTools, BoundedH11])
def behind(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Behind]:
    keys: Path = tmp_path_factory.mktemp("keys") / "keys.toml"
    key = add_key(keys, "all")["Authorization"].removeprefix("Bearer ").encode()
    protocol: type[Bounded] = request.param
    with served(Door(protocol=protocol), keys_file=keys, max_body_bytes=1000) as port:
        yield Behind(port, key)


SECONDS = [(b"GET /v1/models/hcv", b""), (b"POST /v1/models/hcv/predictions", BODY)]


async def try_one(behind: Behind, seed: int) -> str | None:
    """What a client behind another one gets, if that is neither its own answer nor the end of the connection."""
    rng = Random(seed)  # noqa: S311  # nothing here is a secret
    proxy = Proxy(behind.port, Dialect.drawn(rng), behind.patience)
    odd = OddRequests(rng, behind.key).draw()
    answers = await proxy.pass_on(odd)
    behind.firsts.update(answer if isinstance(answer, str) else answer.status for answer in answers)
    behind.seconds["kept" if proxy.is_connected else "new"] += 1
    wrong = None
    for place, (start, body) in enumerate(SECONDS):
        request_id = b"next-%d-%d" % (seed, place)
        (answer,) = await proxy.pass_on(behind.request(start, request_id, body))
        if answer != CLOSED and not _is_own(behind, answer, start, request_id):
            wrong = f"seed {seed}: {odd!r} made the answer to {start!r} {answer}"
            break
    await proxy.close()
    return wrong


def _is_own(behind: Behind, answer: Answer | str, start: bytes, request_id: bytes) -> bool:
    assert isinstance(answer, Answer)
    is_same = answer.body == behind.answers.setdefault(start, answer.body)
    return answer.status == 200 and answer.fields.get(b"x-request-id") == request_id and is_same


async def try_all(behind: Behind, seeds: Seeds) -> list[str]:
    loop, took = asyncio.get_running_loop(), list[float]()
    # Three times each: the first may have to get something ready.
    for start, body in SECONDS * 3:
        began = loop.time()
        reader, writer = await asyncio.open_connection("127.0.0.1", behind.port)
        writer.write(behind.request(start, b"alone", body))
        behind.answers[start] = (await read_answer(reader, b"GET")).body
        took.append(loop.time() - began)
        writer.transport.abort()
    behind.patience = max(PROXY_PATIENCE, MANY_TIMES * min(took))
    coming, wrong = iter(seeds), list[str | None]()

    async def try_on() -> None:
        for seed in coming:
            wrong.append(await try_one(behind, seed))

    await asyncio.gather(*(try_on() for _ in range(AT_ONCE)))
    return list(filter(None, wrong))


def test_nobody_gets_an_answer_that_is_not_their_own(behind: Behind):
    wrong = asyncio.run(try_all(behind, Seeds(scaled(300), first=70_000)))
    assert wrong == [], f"{len(wrong)} wrong answers, such as {wrong[0]}"
    # Otherwise nothing was tried: all kinds of answers came, early ones too, and many connections were used again.
    assert {200, 400, 401, 404, 405, 415} <= behind.firsts.keys()
    assert behind.seconds["kept"] > 0.2 * behind.seconds.total()
