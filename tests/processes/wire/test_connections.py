"""How many connections there may be, and which gives way."""

import logging
import resource
from collections.abc import Iterator

import pytest

from app.processes.wire.connections import MOST_TOLD, QUIET_SECONDS, ConnectionLimits, Connections, Full

LIMITS = ConnectionLimits(most=5, most_per_address=3, proxies=("10.0.0.0/8",))


class Client:
    """A connection that has waited for its client since then, or works for it."""

    def __init__(self, since: float | None = None) -> None:
        self.since = since
        self.gave_way = False

    def waits_since(self) -> float | None:
        return self.since

    def give_way(self) -> None:
        self.gave_way = True


class Counted:
    """What was counted."""

    def __init__(self) -> None:
        self.open = 0
        self.events: list[tuple[str, str]] = []

    def connected(self, count: int) -> None:
        self.open = count

    def full(self, limit: str, result: str) -> None:
        self.events.append((limit, result))

    def unread(self) -> None: ...


class Room:
    """Connections, asked as a protocol asks."""

    def __init__(self, limits: ConnectionLimits = LIMITS) -> None:
        self.connections = Connections(limits)
        self.counted = Counted()

    def take(self, client: Client, address: str = "192.0.2.1", file: int = 20, now: float = 100.0) -> Full | None:
        return self.connections.admit(client, address, file, now, self.counted)

    def fill(self, count: int, address: str = "192.0.2.1", since: float | None = None) -> list[Client]:
        clients = [Client(since) for _ in range(count)]
        assert [self.take(client, address) for client in clients] == [None] * count
        return clients


def test_there_are_no_more_than_may_be():
    room = Room()
    first, *_ = room.fill(3)
    room.fill(2, "192.0.2.2")
    assert room.take(Client(), "192.0.2.3") is Full.ALL
    room.connections.leave(first, "192.0.2.1", room.counted)
    room.connections.leave(first, "192.0.2.1", room.counted)
    assert room.counted.open == 4
    assert room.take(Client(), "192.0.2.3") is None
    assert (room.counted.open, room.counted.events) == (5, [("all", "refused")])


def test_one_address_has_no_more_than_its_share():
    room = Room()
    room.fill(3)
    assert room.take(Client()) is Full.ADDRESS
    room.fill(2, "192.0.2.2")


def test_half_of_all_is_one_addresss_share_if_nothing_is_said():
    room = Room(ConnectionLimits(most=6))
    room.fill(3)
    assert room.take(Client()) is Full.ADDRESS
    assert Room(ConnectionLimits(most=1)).take(Client()) is None


@pytest.mark.parametrize(
    ("one", "other", "are_one"),
    [
        ("2001:db8::1", "2001:db8::2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("fe80::1%eth0", "fe80::2%eth0", True),
        ("192.0.2.1", "192.0.2.2", False),
    ],
)
def test_an_ipv6_network_is_one_client(one: str, other: str, are_one: bool):
    room = Room()
    room.fill(3, one)
    assert room.take(Client(), other) is (Full.ADDRESS if are_one else None)


@pytest.mark.parametrize(
    ("proxies", "address"),
    [(("10.0.0.0/8",), "10.1.2.3"), (("192.0.2.1",), "192.0.2.1"), (("*",), "198.51.100.7"), ((), "")],
)
def test_a_trusted_proxy_may_take_all(proxies: tuple[str, ...], address: str):
    room = Room(ConnectionLimits(5, 3, proxies))
    room.fill(5, address)
    assert room.take(Client(), address) is Full.ALL


def test_who_has_been_silent_longest_gives_way():
    room = Room()
    busy, silent, more_silent = clients = Client(None), Client(98.0), Client(97.0)
    for client in clients:
        room.take(client)
    (other,) = room.fill(1, "192.0.2.2", since=1.0)
    assert room.take(Client()) is None
    assert [client.gave_way for client in (busy, silent, more_silent, other)] == [False, False, True, False]
    # Of all, where all are too many.
    room.fill(1, "192.0.2.2")
    assert room.take(Client(), "192.0.2.3") is None
    assert other.gave_way
    assert (room.counted.open, room.counted.events) == (5, [("address", "gave_way"), ("all", "gave_way")])


def test_nobody_gives_way_who_was_heard_just_now():
    room = Room()
    clients = room.fill(3, since=99.5)
    assert room.take(Client()) is Full.ADDRESS
    assert not any(client.gave_way for client in clients)


@pytest.fixture
def few_files() -> Iterator[int]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, hard))
    yield 512
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_some_files_stay_free(few_files: int):
    room = Room(ConnectionLimits(most=10_000))
    assert room.take(Client(), file=few_files - 33) is None
    assert room.take(Client(), file=few_files - 32) is Full.FILES
    assert room.counted.events == [("files", "refused")]
    # Where few may be open, an address has half of them.
    room.fill((few_files - 32) // 2 - 1)
    assert room.take(Client()) is Full.ADDRESS


def test_the_log_says_now_and_then_that_there_is_no_room(caplog: pytest.LogCaptureFixture):
    room = Room()
    room.fill(3)
    with caplog.at_level(logging.WARNING):
        for now in (100.0, 101.0, 99.0 + QUIET_SECONDS, 100.0 + QUIET_SECONDS):
            room.take(Client(), now=now)
    assert [record.levelname for record in caplog.records] == ["WARNING"] * 2
    assert "FLIPSET_MAX_CONNECTIONS_PER_ADDRESS" in caplog.text
    assert "192.0.2.1" not in caplog.text


def test_of_those_that_are_refused_some_are_told():
    room, clients = Room(), [Client() for _ in range(MOST_TOLD + 1)]
    assert [room.connections.may_be_told(client) for client in clients] == [True] * MOST_TOLD + [False]
    room.connections.leave(clients[0], "192.0.2.1", room.counted)
    assert room.connections.may_be_told(clients[-1])
