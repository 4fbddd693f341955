"""Where the rates of keys are counted: in this server's memory, or in a database that several servers share."""

from importlib.util import find_spec
from typing import Protocol

from app.adapters.keys.rates import Rate, RateMeter, RatesLost
from app.adapters.machine.optional_groups import how_to_install


class NoRates(Exception):
    """Rates cannot be counted together; the text says why."""


class CountsElsewhere(Protocol):
    """A count that other servers share."""

    async def wait(self, key: str, rate: Rate) -> int:
        """Count one more request: 0, or the nanoseconds to wait. `RatesLost` if nobody can say."""
        ...

    async def close(self) -> None:
        """End its connections."""
        ...


class KeyRates:
    """Counts the requests of each key."""

    def __init__(self, meter: RateMeter, elsewhere: CountsElsewhere | None = None, *, must_share: bool = False) -> None:
        """`must_share`: rather nobody gets in than that a key asks each server as often as it may ask all of them."""
        self._meter = meter
        self._elsewhere = elsewhere
        self._must_share = must_share

    async def wait(self, key: str, rate: Rate) -> int:
        """Count one more request. Returns 0 if it is within the rate, otherwise the nanoseconds to wait."""
        if self._elsewhere is not None:
            try:
                return await self._elsewhere.wait(key, rate)
            except RatesLost:
                if self._must_share:
                    raise
        return self._meter.wait(key, rate)

    async def close(self) -> None:
        if self._elsewhere is not None:
            await self._elsewhere.close()


def counts_at(address: str) -> CountsElsewhere:
    """The count in this database; `NoRates` if a package is missing."""
    if find_spec("psycopg") is None:
        raise NoRates(f"FLIPSET_RATES: PostgreSQL needs more packages: {how_to_install('records-postgres')}")
    # Imported here: few need it.
    from app.adapters.keys.shared_rates import SharedRates  # noqa: PLC0415

    return SharedRates(address)
