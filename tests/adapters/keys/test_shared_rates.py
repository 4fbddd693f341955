"""Rates that several servers count together, in a real PostgreSQL."""

import asyncio
from collections.abc import Awaitable, Callable

import numpy as np
import pytest

pytest.importorskip("psycopg", reason="the packages of the group records-postgres are not installed")

import psycopg

from app.adapters.keys.key_rates import KeyRates
from app.adapters.keys.rates import MINUTE, Rate, RateMeter, RatesLost, counted
from app.adapters.keys.shared_rates import PAUSE_SECONDS, SharedRates
from tests.support.postgres import Postgres, postgres
from tests.support.scale import scaled
from tests.support.seeds import Seeds


@pytest.fixture
def database(database_server: Postgres) -> str:
    return database_server.new_database()


def with_servers(address: str, count: int, work: Callable[..., Awaitable[None]]) -> None:
    """Run it with so many servers' counts in the same database."""

    async def run() -> None:
        servers = [SharedRates(address) for _ in range(count)]
        try:
            await work(*servers)
        finally:
            for server in servers:
                await server.close()

    asyncio.run(run())


def test_servers_count_together_and_each_key_for_itself(database: str):
    async def work(one: SharedRates, other: SharedRates) -> None:
        rate = Rate(1, 3)
        waits = [await each.wait("a", rate) for each in (one, other, one, other, one)]
        assert waits[:3] == [0, 0, 0]
        assert all(0 < wait <= MINUTE for wait in waits[3:])
        assert await other.wait("b", rate) == 0

    with_servers(database, 2, work)


def test_servers_that_start_at_once_make_one_table(database: str):
    async def work(*servers: SharedRates) -> None:
        waits = await asyncio.gather(*(server.wait("a", Rate(1, 5)) for server in servers))
        assert sorted(wait > 0 for wait in waits) == [False] * 5 + [True] * 3

    with_servers(database, 8, work)


def test_it_lets_through_what_one_meter_would(database: str):
    """Time passes by moving what is due: what is let through is as the rule says for all pauses."""

    async def work(server: SharedRates) -> None:
        await server.wait("other", Rate(1, 1))
        with psycopg.connect(database, autocommit=True) as connection:
            for seed in Seeds(scaled(5), 26_000):
                random, key = np.random.default_rng(seed), f"key {seed}"
                rate = Rate(1, int(random.integers(1, 5)))
                due, now = 0, 10 * MINUTE
                for _ in range(20):
                    # The time that the test takes is nothing beside these.
                    pause = int(random.choice((0, 0, 20, 40, 70))) * MINUTE // 60
                    now += pause
                    connection.execute("UPDATE flipset_rates SET due = due - %s WHERE key = %s", [pause, key])
                    due, early = counted(due, now, rate)
                    told = await server.wait(key, rate)
                    assert (told == 0) == (early == 0), (seed, rate)
                    assert abs(told - early) < 15 * MINUTE // 60

    with_servers(database, 1, work)


@pytest.mark.slow
def test_without_the_database_it_says_so_at_once_and_comes_back():
    now = 0.0

    async def work(shared: SharedRates, server: Postgres) -> None:
        nonlocal now
        here, strict = KeyRates(RateMeter(), shared), KeyRates(RateMeter(), shared, must_share=True)
        rate = Rate(1, 1)
        assert await here.wait("a", rate) == 0
        server.kill()
        with pytest.raises(RatesLost):
            await strict.wait("a", rate)
        # This server's own count knows nothing of the one above.
        assert await here.wait("a", rate) == 0
        assert await here.wait("a", rate) > 0
        server.start()
        with pytest.raises(RatesLost):
            await strict.wait("b", rate)
        now += PAUSE_SECONDS
        # What was counted before may be lost with the database: it is kept without a log.
        assert await strict.wait("b", rate) == 0
        assert await strict.wait("b", rate) > 0

    async def run(server: Postgres) -> None:
        shared = SharedRates(server.new_database(), lambda: now)
        try:
            await work(shared, server)
        finally:
            await shared.close()

    with postgres() as server:
        asyncio.run(run(server))
