"""A proxy that keeps its connection to the service, and passes on what its clients send, byte for byte.

It frames requests and answers as RFC 9112 says. Where that lets readers differ, or tells them to refuse what some
pass on, it does as its dialect says.
"""

import asyncio
import re
from dataclasses import dataclass
from random import Random

CLOSED = "closed"
PAUSE = 0.01


@dataclass(frozen=True)
class Dialect:
    """How this proxy reads."""

    takes_bare_line_feeds: bool
    joins_folded_lines: bool
    # Such as Content-Length with a space before the colon.
    takes_odd_names: bool
    # Such as xchunked, or gzip before chunked.
    takes_odd_codings: bool
    # Of a request that has both; the other is passed on all the same.
    prefers_chunks: bool
    takes_last_length: bool
    takes_old_chunks: bool
    waits_for_100: bool
    sends_head_first: bool
    # After an answer that came early.
    sends_the_rest: bool

    @classmethod
    def drawn(cls, rng: Random) -> "Dialect":
        return cls(*(rng.random() < 0.5 for _ in cls.__dataclass_fields__))


@dataclass(frozen=True)
class Request:
    """One request, as the proxy sees it."""

    method: bytes
    head: bytes
    body: bytes
    expects_100: bool


@dataclass(frozen=True)
class Answer:
    """One answer, and whether the connection may be used again."""

    status: int
    fields: dict[bytes, bytes]
    body: bytes
    keeps: bool


class Refused(Exception):
    """The proxy passes nothing on."""


def requests_in(sent: bytes, dialect: Dialect) -> list[Request]:
    """The requests that a client sends, as far as the proxy can read them."""
    found = []
    try:
        while sent:
            request, sent = _first(sent, dialect)
            found.append(request)
    except (Refused, ValueError, IndexError):
        # The proxy answers for itself, or waits for the rest, and closes the connection to the client.
        pass
    return found


def _first(sent: bytes, dialect: Dialect) -> tuple[Request, bytes]:
    end = re.search(rb"\r?\n\r?\n" if dialect.takes_bare_line_feeds else rb"\r\n\r\n", sent.lstrip(b"\r\n"))
    if end is None:
        raise Refused
    sent = sent.lstrip(b"\r\n")
    head, rest = sent[: end.end()], sent[end.end() :]
    lines = re.split(rb"\r?\n" if dialect.takes_bare_line_feeds else rb"\r\n", head)
    fields = _fields(lines[1:], dialect)
    method, _, version = lines[0].split(b" ")
    size = _body_size(fields, rest, dialect, is_old=version == b"HTTP/1.0")
    if size > len(rest):
        raise Refused
    expects = any(name == b"expect" and value.lower() == b"100-continue" for name, value in fields)
    return Request(method, head, rest[:size], expects and size > 0), rest[size:]


def _fields(lines: list[bytes], dialect: Dialect) -> list[tuple[bytes, bytes]]:
    fields: list[tuple[bytes, bytes]] = []
    for line in lines:
        if line[:1] in (b" ", b"\t"):
            if not fields or not dialect.joins_folded_lines:
                continue
            fields[-1] = (fields[-1][0], fields[-1][1] + b" " + line.strip())
            continue
        name, _, value = line.partition(b":")
        odd = re.search(rb"[^!#$%&'*+.^_`|~0-9A-Za-z-]", name)
        if not odd or dialect.takes_odd_names:
            fields.append((name.rstrip(b" \t\x0b\x00").lower(), value.strip(b" \t\x0b")))
    return fields


def _body_size(fields: list[tuple[bytes, bytes]], rest: bytes, dialect: Dialect, is_old: bool) -> int:
    codings = [value.lower() for name, value in fields if name == b"transfer-encoding"]
    lengths = [value for name, value in fields if name == b"content-length"]
    is_chunked = codings == [b"chunked"] or (bool(codings) and dialect.takes_odd_codings and b"chunked" in codings[-1])
    if is_old and not dialect.takes_old_chunks:
        is_chunked = False
    if is_chunked and (dialect.prefers_chunks or not lengths):
        return _chunks_size(rest, dialect)
    if not lengths:
        return 0
    # int() takes what a careless proxy takes: signs and spaces.
    return max(0, int(lengths[-1 if dialect.takes_last_length else 0].split(b",")[0]))


def _chunks_size(rest: bytes, dialect: Dialect) -> int:
    line_end, at = (b"\n" if dialect.takes_bare_line_feeds else b"\r\n"), 0
    while True:
        end = rest.index(line_end, at) + len(line_end)
        size = int(rest[at:end].split(b";")[0].strip(), 16)
        at = end
        if size <= 0:
            break
        at = rest.index(line_end, at + size) + len(line_end)
    while (end := rest.index(line_end, at) + len(line_end)) - at > 2:
        at = end
    return end


class Proxy:
    """One connection to the service, opened anew when it may not be used again."""

    def __init__(self, port: int, dialect: Dialect, patience: float) -> None:
        self._port = port
        self._dialect = dialect
        self._patience = patience
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    @property
    def is_connected(self) -> bool:
        return self._streams is not None

    async def pass_on(self, sent: bytes) -> list[Answer | str]:
        """What a client gets that sends these bytes, request by request; `CLOSED` where there is no whole answer."""
        answers: list[Answer | str] = []
        for request in requests_in(sent, self._dialect):
            answer = await self._exchange(request)
            answers.append(answer)
            if answer == CLOSED:
                break
        return answers

    async def _exchange(self, request: Request) -> Answer | str:
        try:
            async with asyncio.timeout(self._patience):
                if self._streams is None:
                    self._streams = await asyncio.open_connection("127.0.0.1", self._port)
                answer = await self._asked(request)
        except (OSError, asyncio.IncompleteReadError, ValueError):
            # Also TimeoutError: a proxy gives up, too.
            await self.close()
            return CLOSED
        if not answer.keeps:
            await self.close()
        return answer

    async def _asked(self, request: Request) -> Answer:
        assert self._streams is not None
        reader, writer = self._streams
        if not (request.expects_100 and self._dialect.waits_for_100):
            writer.write(request.head)
            if self._dialect.sends_head_first:
                # Long enough, most of the time, for the service to read it by itself.
                await asyncio.sleep(PAUSE)
            writer.write(request.body)
            answer = await read_answer(reader, request.method)
            while answer.status == 100:
                answer = await read_answer(reader, request.method)
            return answer
        writer.write(request.head)
        answer = await read_answer(reader, request.method)
        if answer.status == 100:
            writer.write(request.body)
            return await read_answer(reader, request.method)
        if self._dialect.sends_the_rest:
            writer.write(request.body)
        return answer

    async def close(self) -> None:
        if self._streams is not None:
            self._streams[1].transport.abort()
            self._streams = None


async def read_answer(reader: asyncio.StreamReader, method: bytes) -> Answer:
    """One answer, framed as RFC 9112 says."""
    head = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
    status = int(head[0].split(b" ")[1])
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(b":") for line in head[1:-2])}
    keeps = b"close" not in fields.get(b"connection", b"").lower() and head[0].startswith(b"HTTP/1.1")
    if status == 100:
        return Answer(status, fields, b"", keeps)
    if method == b"HEAD" or status in (204, 304):
        return Answer(status, fields, b"", keeps)
    if fields.get(b"transfer-encoding") == b"chunked":
        body = b""
        while size := int(await reader.readuntil(b"\r\n"), 16):
            body += await reader.readexactly(size)
            assert await reader.readexactly(2) == b"\r\n"
        assert await reader.readexactly(2) == b"\r\n"
        return Answer(status, fields, body, keeps)
    if b"content-length" in fields:
        return Answer(status, fields, await reader.readexactly(int(fields[b"content-length"])), keeps)
    return Answer(status, fields, await reader.read(-1), keeps=False)
