"""Servers that count the rates of keys together, as replicas in a cluster do."""

from pathlib import Path

import httpx
import pytest

from app.adapters.keys.rates import Rate
from tests.live.asking import refused
from tests.live.clients.test_access import add_key
from tests.support.live_server import LiveServer, live_server
from tests.support.postgres import Postgres, postgres
from tests.support.waiting import PATIENCE, eventually

# A database that is there is waited for, however busy the machine is.
PATIENT = f"import app.adapters.keys.shared_rates as rates; rates.PATIENCE_SECONDS = {PATIENCE}"


def asked(server: LiveServer, key: dict[str, str]) -> httpx.Response:
    return httpx.get(f"{server.url}/v1/models", headers=key, timeout=PATIENCE)


def test_two_servers_count_the_requests_of_a_key_together(tmp_path: Path, database_server: Postgres):
    key = add_key(tmp_path / "keys.toml", "ward", rate=Rate(1, 5))
    settings = {"keys_file": str(tmp_path / "keys.toml"), "rates": database_server.new_database(), "first": PATIENT}
    with live_server(**settings) as one, live_server(**settings, workers="2") as other:
        answers = [asked(server, key) for server in (one, other, other, one, other, one, other)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 2
    assert refused(answers[-1], 429) == {}
    assert 0 < int(answers[-1].headers["retry-after"]) <= 60


@pytest.mark.parametrize(("when_lost", "status"), [("count_here", 200), ("refuse", 503)])
def test_without_the_database_each_counts_for_itself_or_nobody_gets_in(tmp_path: Path, when_lost: str, status: int):
    key = add_key(tmp_path / "keys.toml", "ward", rate=Rate(1, 1))
    with postgres() as database:
        settings = {"keys_file": str(tmp_path / "keys.toml"), "rates": database.new_database(), "rates_lost": when_lost}
        with live_server(**settings, first=PATIENT) as server:
            assert [asked(server, key).status_code for _ in range(2)] == [200, 429]
            database.kill()
            away = asked(server, key)
            assert away.status_code == status
            assert (away.headers.get("retry-after") is None) == (status == 200)
            assert server.logs("rates cannot be counted in postgresql://127.0.0.1/records_0: ")
            database.start()

            def counts_there_again() -> bool:
                # What was counted there may be gone with the crash.
                asked(server, key)
                return "rates are counted in" in server.log.read_text()

            eventually(counts_there_again)


def test_the_address_must_be_one_of_postgresql(tmp_path: Path):
    with pytest.raises(AssertionError, match=r"FLIPSET_RATES: must look like postgresql://"):
        live_server(rates="redis://localhost").__enter__()
