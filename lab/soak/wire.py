"""HTTP over a connection, as little as it takes, so that what is measured is the server."""

import asyncio
import socket
from dataclasses import dataclass, field

# No answer of the soak may take longer than this.
PATIENCE = 300


class Cut(Exception):
    """The connection ended before the answer did; whether that had begun, and what came of its body."""

    def __init__(self, began: bool, received: bytes) -> None:
        super().__init__("cut")
        self.began = began
        self.received = received


@dataclass
class Reply:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytearray = field(default_factory=bytearray)


class Connection:
    """One kept-alive connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def to(cls, port: int, buffer: int | None = None) -> "Connection":
        """With a small buffer the kernel takes no more for the client than it reads, and the server has to wait."""
        end = socket.socket()
        if buffer is not None:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        end.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(end, ("127.0.0.1", port))
        except OSError:
            end.close()
            raise
        return cls(*await asyncio.open_connection(sock=end, limit=buffer or 2**16))

    async def ask(self, request: bytes, patience: float = PATIENCE) -> Reply:
        """The whole answer, or `Cut`."""
        reply = Reply(0, {})
        try:
            async with asyncio.timeout(patience):
                self.writer.write(request)
                await self.writer.drain()
                await self._read_head(reply)
                await self._read_body(reply)
        except (OSError, asyncio.IncompleteReadError) as error:
            if isinstance(error, TimeoutError):
                raise
            reply.body += getattr(error, "partial", b"")
            raise Cut(reply.status > 0, bytes(reply.body)) from None
        return reply

    async def head(self) -> Reply:
        """Only the status and the headers."""
        reply = Reply(0, {})
        async with asyncio.timeout(PATIENCE):
            await self._read_head(reply)
        return reply

    async def _read_head(self, reply: Reply) -> None:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        reply.status = int(head[0].split()[1])
        pairs = (line.partition(":") for line in head[1:] if line)
        reply.headers = {name.lower(): value.strip() for name, _, value in pairs}

    async def _read_body(self, reply: Reply) -> None:
        if "content-length" in reply.headers:
            reply.body += await self.reader.readexactly(int(reply.headers["content-length"]))
            return
        if reply.headers.get("transfer-encoding") != "chunked":
            return
        while size := int(await self.reader.readuntil(b"\r\n"), 16):
            reply.body += await self.reader.readexactly(size)
            await self.reader.readexactly(2)
        await self.reader.readexactly(2)

    async def close(self) -> None:
        self.writer.close()
        try:
            await self.writer.wait_closed()
        except OSError:
            # The other side was first.
            return

    def leave(self) -> None:
        """Without a word."""
        self.writer.transport.abort()
