"""Whom an address stands for. The parent of the workers imports this, so it must not lead to a model."""

from functools import lru_cache
from ipaddress import IPv6Address, ip_network

from starlette.types import Scope

# An IPv6 network of this size is one client's.
IPV6_PREFIX = 64


def client_of(scope: Scope) -> str:
    """Who sent a request: the id of the key, or whom the address stands for."""
    key_id: str | None = scope.get("state", {}).get("key_id")
    if key_id is not None:
        return key_id
    address = scope.get("client")
    return "" if address is None else origin_of(address[0])


def origin_of(address: str) -> str:
    """The address itself, or its network where one client has many addresses."""
    return _network_of(address) if ":" in address else address


@lru_cache(maxsize=1024)
def _network_of(address: str) -> str:
    try:
        found = IPv6Address(address.partition("%")[0])
    except ValueError:
        # A trusted proxy passes on whatever it was sent.
        return address
    # A socket that takes both kinds of addresses shows IPv4 as a part of IPv6.
    return str(found.ipv4_mapped or ip_network((found, IPV6_PREFIX), strict=False))
