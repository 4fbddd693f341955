"""Requests whose end two readers may see in two places, drawn at random: plain ones, odd ones, and plain attacks."""

from random import Random

SMUGGLED = b"X-Request-ID: smuggled\r\n"
# What an attacker would have the service take for a request of its own: one that is whole, and one that would take the
# next person's request for its body.
HIDDEN = [
    b"GET /livez HTTP/1.1\r\nHost: here\r\n" + SMUGGLED + b"\r\n",
    b"GET /livez HTTP/1.1\r\nHost: here\r\n" + SMUGGLED + b"X: ",
    b"POST /v1/models/hcv/predictions HTTP/1.1\r\nHost: here\r\n" + SMUGGLED + b"Content-Length: 300\r\n\r\n",
    b"POST /livez HTTP/1.1\r\nHost: here\r\n" + SMUGGLED + b"Transfer-Encoding: chunked\r\n\r\nff\r\n",
    b"0\r\n\r\nGET /livez HTTP/1.1\r\nHost: here\r\n" + SMUGGLED + b"\r\n",
]
HARMLESS = [b"", b"{}", b'{"instance": {}}', b"x" * 300, b"x" * 3000]
METHODS = [b"GET", b"HEAD", b"OPTIONS", b"PUT", b"CONNECT", b"post", b"PRI"]
TARGETS = [
    *(b"/v1/models/hcv/predictions", b"/v1/models/hcv/counterfactuals", b"/v1/models/none/predictions", b"/v1/models"),
    *(b"/livez", b"/openapi.json", b"/docs/files/swagger-ui.css", b"/nowhere", b"http://here/livez"),
]
VERSIONS = [b"HTTP/1.0", b"HTTP/1.0", b"HTTP/1.2", b"HTTP/2.0", b"http/1.1", b"HTTP/1.1 x"]
UPGRADES = [b"h2c", b"websocket", b"WebSocket", b"foo", b"h2c, websocket", b"TLS/1.0", b""]
SWITCHING = [b"Upgrade", b"Upgrade, HTTP2-Settings", b"keep-alive, Upgrade"]
CONNECTIONS = [
    *(b"keep-alive", b"close", b"Keep-Alive, close", b"Upgrade", b"Content-Length", b"Transfer-Encoding", b"", b","),
]
CODINGS = [
    *(b"Chunked", b"chunked ", b"identity", b"gzip, chunked", b"chunked, identity", b"xchunked", b"\x0bchunked"),
    *(b'"chunked"', b"chunked;q=1", b"chunked, chunked", b"chunked,", b"", b"chun\x00ked", b"identity, chunked"),
]
EXPECTATIONS = [b"100-continue", b"100-continue", b"100-Continue", b"100-continue, x", b"200-ok", b""]
LENGTHS = [b"+%d", b"-%d", b"0%d", b"%d ", b"%d,", b"%d, 5", b"0x%x", b"%d;", b"%d.0", b"%d 5", b"1%d", b"%d, %%d"]
NAME_ENDS = [b" ", b"\t", b"\x00", b"\x0b", b";"]
COLONS = [b":", b":\t", b": \t ", b":\r\n ", b": \n ", b":\x0b"]
LINE_ENDS = [b"\n", b"\r", b"\r\r\n", b"\r\n ", b"\r\n\t", b"\n\r\n", b"\x00\r\n", b" \r\n"]
CHUNK_SIZES = [b"%X", b"0%x", b"+%x", b"0x%x", b" %x", b"%x ", b"-%x", b"%x0"]
CHUNK_ENDS = [b"\n", b"\r", b";a=b\r\n", b";\n", b' ;a="\r\n', b";a=b\nx\r\n", b"\t\r\n", b" \r\n"]
DATA_ENDS = [b"", b"\n", b"\r", b"x\r\n"]
TRAILERS = [b"X: y\r\n", b"Content-Length: 5\r\n", b"X: y\n", b" x\r\n", b"Transfer-Encoding: chunked\r\n", SMUGGLED]


class OddRequests:
    """Draws requests. Few things are odd in each: of more, every reader would refuse it."""

    def __init__(self, rng: Random, key: bytes) -> None:
        self._rng = rng
        self._key = key
        self._oddity = rng.choice([0.0, 0.02, 0.02, 0.05])

    def draw(self) -> bytes:
        rng = self._rng
        data = rng.choice(HIDDEN if rng.random() < 0.7 else HARMLESS)
        is_chunked = rng.random() < 0.4
        body = self._chunks(data) if is_chunked else data
        if rng.random() < 0.1:
            # The classic: two lengths, and a request behind the shorter one.
            body = b"0\r\n\r\n" + rng.choice(HIDDEN)
            fields = [self._coding(), self._length(rng.choice([len(body), len(body), 5])), *self._others()]
        else:
            fields = [*self._framing(len(body), is_chunked), *self._others()]
        rng.shuffle(fields)
        method = rng.choice(METHODS) if rng.random() < 0.3 else b"POST"
        start = b" ".join((method, rng.choice(TARGETS), self._odd(b"HTTP/1.1", VERSIONS, 2)))
        lines = [line + self._odd(b"\r\n", LINE_ENDS) for line in (start, *fields)]
        return self._odd(b"", [b"\r\n"]) + b"".join(lines) + self._odd(b"\r\n", [b"\n"]) + body

    def _odd(self, plain: bytes, odd: list[bytes], weight: float = 1) -> bytes:
        return self._rng.choice(odd) if self._rng.random() < weight * self._oddity else plain

    def _framing(self, length: int, is_chunked: bool) -> list[bytes]:
        rng = self._rng
        fields = [self._coding()] if is_chunked else [self._length(length)]
        if rng.random() < 4 * self._oddity:
            fields.append(self._length(rng.choice([length, 0, 5])))
        if rng.random() < 2 * self._oddity:
            fields.append(self._coding())
        return [] if rng.random() < self._oddity else fields

    def _others(self) -> list[bytes]:
        rng = self._rng
        fields = [b"Host: here", b"X-Request-ID: first"]
        fields.append(b"Content-Type: " + rng.choice([b"application/json"] * 3 + [b"text/plain"]))
        if rng.random() < 0.7:
            fields.append(b"Authorization: Bearer " + self._key)
        if rng.random() < 0.35:
            fields += [b"Upgrade: " + rng.choice(UPGRADES), b"Connection: " + rng.choice(SWITCHING)]
            fields += [b"HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA"]
        elif rng.random() < 0.2:
            fields.append(b"Connection: " + rng.choice(CONNECTIONS))
        if rng.random() < 0.15:
            fields.append(b"Expect: " + rng.choice(EXPECTATIONS))
        return fields

    def _coding(self) -> bytes:
        return self._field(b"Transfer-Encoding", self._odd(b"chunked", CODINGS, 4))

    def _length(self, length: int) -> bytes:
        return self._field(b"Content-Length", self._odd(b"%d", LENGTHS, 4) % length)

    def _field(self, name: bytes, value: bytes) -> bytes:
        name = self._odd(name, [name.lower(), name.upper(), name.replace(b"-", b"_")], 2)
        return name + self._odd(b"", NAME_ENDS) + self._odd(b": ", COLONS, 3) + value

    def _chunks(self, data: bytes) -> bytes:
        said, at = b"", 0
        while at < len(data):
            piece = data[at : at + self._rng.choice([7, 50, len(data)])]
            at += len(piece)
            said += self._odd(b"%x", CHUNK_SIZES, 0.5) % len(piece) + self._odd(b"\r\n", CHUNK_ENDS, 0.5)
            said += piece + self._odd(b"\r\n", DATA_ENDS, 0.5)
        last = self._odd(b"0", [b"000", b"0 ", b""]) + self._odd(b"\r\n", CHUNK_ENDS)
        return said + last + self._odd(b"", TRAILERS, 4) + b"\r\n"
