"""The rates of keys, counted in PostgreSQL for all servers of a service."""

import asyncio
import logging
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import psycopg

from app.adapters.keys.rates import Rate, RatesLost

logger = logging.getLogger("flipset.rates")

# A count takes a millisecond. A database that needs longer than this is not there.
PATIENCE_SECONDS = 1.0
# So long nobody asks it again, and nobody waits for it.
PAUSE_SECONDS = 5.0
# Two servers that start at once may both make the table: whoever holds this number's lock does.
LOCK = 0x0F11_95E8
TABLE = "CREATE UNLOGGED TABLE IF NOT EXISTS flipset_rates (key text PRIMARY KEY, due bigint NOT NULL)"
# As `counted` has it, by the clock of the database. A request that comes too early changes no row; the outer query
# still sees when the next was due before.
COUNT = """
WITH moment AS (SELECT (extract(epoch FROM clock_timestamp()) * 1000000000)::bigint AS now),
asked AS (
    INSERT INTO flipset_rates AS rates SELECT %(key)s, now + %(interval)s FROM moment
    ON CONFLICT (key) DO UPDATE SET due = greatest(rates.due + %(interval)s, excluded.due)
    WHERE greatest(rates.due + %(interval)s, excluded.due) <= excluded.due + %(ahead)s
    RETURNING due)
SELECT EXISTS (SELECT FROM asked), (SELECT due - now - %(ahead)s FROM moment, flipset_rates WHERE key = %(key)s)
"""


class SharedRates:
    """Counts the requests of each key for all servers that use the same database, over one connection."""

    def __init__(self, address: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._address = address
        self._connection: psycopg.AsyncConnection | None = None
        self._connecting = asyncio.Lock()
        self._left_alone_until = 0.0
        self._is_lost = False

    async def wait(self, key: str, rate: Rate) -> int:
        """Count one more request. Returns 0 if it is within the rate, otherwise the nanoseconds to wait.

        `RatesLost` if the database does not answer, and for a while after that.
        """
        if self._clock() < self._left_alone_until:
            raise RatesLost
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                early = await self._count(key, rate)
        except (psycopg.Error, TimeoutError) as error:
            await self._lose(type(error).__name__)
            raise RatesLost from None
        if self._is_lost:
            self._is_lost = False
            logger.warning("rates are counted in %s again", self._place())
        return early

    async def _count(self, key: str, rate: Rate) -> int:
        connection = await self._connected()
        asked = {"key": key, "interval": rate.interval, "ahead": (rate.burst - 1) * rate.interval}
        is_counted, early = await (await connection.execute(COUNT, asked)).fetchone() or (False, None)
        if is_counted:
            return 0
        # A row that another request made since the query began cannot be seen.
        return rate.interval if early is None else max(1, int(early))

    async def _connected(self) -> psycopg.AsyncConnection:
        async with self._connecting:
            if self._connection is None:
                connect = psycopg.AsyncConnection.connect
                self._connection = await connect(self._address, autocommit=True, application_name="flipset")
                await _prepare(self._connection)
            return self._connection

    async def _lose(self, reason: str) -> None:
        self._left_alone_until = self._clock() + PAUSE_SECONDS
        if not self._is_lost:
            self._is_lost = True
            logger.error("rates cannot be counted in %s: %s", self._place(), reason)
        await self.close()

    def _place(self) -> str:
        """The address without user and password."""
        parts = urlsplit(self._address)
        return f"postgresql://{parts.hostname or ''}{parts.path}"

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()


async def _prepare(connection: psycopg.AsyncConnection) -> None:
    """Make the table. Where it is there already, the database's user needs no right to make any."""
    found = await (await connection.execute("SELECT to_regclass('flipset_rates')")).fetchone()
    if found == (None,):
        async with connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
            await connection.execute(TABLE)
