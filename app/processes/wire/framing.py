"""Where a request ends: the one place that decides it, whichever parser reads the request afterwards.

A proxy reads the same bytes. If it finds another end, the next person's request begins in the middle of this one, and
answers go to the wrong people. So only requests that all readers of RFC 9112 read alike go on to the parser. All others
are refused, and nothing behind them on the connection is read. The parser never sees what readers may take
differently and Flipset has no use for: upgrades, chunk extensions, trailers, expectations that do not apply.
"""

import re
from dataclasses import dataclass
from enum import Enum, auto
from http import HTTPStatus

# Of a head, and of all that stands around the data of a chunked body.
MOST_HEAD_BYTES = 64 * 1024

_NAME = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]++"
_TEXT = rb"[\t\x20-\x7e\x80-\xff]*+"
_FIELD = _NAME + rb":" + _TEXT + rb"\r\n"
FIELD = re.compile(_FIELD)
HEAD = re.compile(rb"(" + _NAME + rb") [\x21-\x7e]++ HTTP/1\.([01])\r\n((?:" + _FIELD + rb")*+)\r\n")
# What no head holds, as far as it has come: control characters, and a line that does not end with CRLF.
IN_NO_HEAD = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|(?<!\r)\n|\r(?!\n|\Z)")
# The fields that say where the body ends, whether the connection does, and what the parser must not see.
TELLING = re.compile(
    rb"^(content-length|transfer-encoding|connection|upgrade|expect):[ \t]*([^\r]*?)[ \t]*\r\n",
    re.IGNORECASE | re.MULTILINE,
)
LENGTH = re.compile(rb"[0-9]{1,15}")
CHUNK = re.compile(rb"([0-9A-Fa-f]{1,12})(?:;" + _TEXT + rb")?\r\n")

LONG = f"Send at most {MOST_HEAD_BYTES // 1024} KB of head (address and headers together), and of trailers."
NO_HEAD = (
    "Send a request line and headers as in RFC 9112: HTTP/1.1 or HTTP/1.0, CRLF at the end of each line, "
    "each header on one line, no space before its colon."
)
NO_TUNNEL = "Send GET or POST: CONNECT asks for a proxy."
ONE_LENGTH = "Send one Content-Length, in digits, or with HTTP/1.1 Transfer-Encoding: chunked. Do not send both."
NO_CHUNK = "Send each chunk as its length in hexadecimal digits, CRLF, so many bytes, CRLF. Send length 0 last."


class Unframed(Exception):
    """It is ambiguous where the request ends. The text is for the person who sent it."""

    def __init__(self, detail: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST) -> None:
        super().__init__(detail)
        self.detail = detail
        self.status = status


class TooLong(Unframed):
    """The head, or what surrounds the chunks of a body, is too long."""

    def __init__(self) -> None:
        super().__init__(LONG, HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)


@dataclass(frozen=True, slots=True)
class Head:
    """A head as the parser gets it, and whether its request is the last on the connection."""

    content: bytes
    is_last: bool


class Framer:
    """Takes the bytes of one connection, and returns one request after the other: its head, then its body.

    `head` and `body` raise `Unframed` if the request is ambiguous: the connection must then be closed.
    """

    def __init__(self) -> None:
        self._waiting = bytearray()
        # As far as there is no end of a head.
        self._looked = 0
        self._body: _Counted | _Chunked = NOTHING

    def feed(self, data: bytes) -> None:
        self._waiting += data

    @property
    def waiting(self) -> int:
        """How many bytes have arrived and were not returned yet."""
        return len(self._waiting)

    @property
    def is_complete(self) -> bool:
        """Whether the last request was returned completely."""
        return self._body.is_complete

    def head(self) -> Head | None:
        """The next head, once all of it is there. Empty lines before it mean nothing."""
        while self._waiting.startswith(b"\r\n"):
            del self._waiting[:2]
        looked, self._looked = max(0, self._looked - 3), len(self._waiting)
        end = self._waiting.find(b"\r\n\r\n", looked) + 4
        if (end if end > 3 else len(self._waiting)) > MOST_HEAD_BYTES:
            raise TooLong
        if end > 3:
            self._looked = 0
            return self._read(taken(self._waiting, end))
        if IN_NO_HEAD.search(self._waiting, looked):
            raise Unframed(NO_HEAD)
        return None

    def body(self) -> bytes:
        """What has arrived of the body since the last call, as the parser gets it."""
        return self._body.take(self._waiting)

    def _read(self, content: bytes) -> Head:
        match = HEAD.fullmatch(content)
        if match is None:
            raise Unframed(NO_HEAD)
        if match[1] == b"CONNECT":
            raise Unframed(NO_TUNNEL)
        fields = list(TELLING.finditer(content, match.start(3)))
        told: dict[bytes, list[bytes]] = {}
        for field in fields:
            told.setdefault(field[1].lower(), []).append(field[2].lower())
        is_old = match[2] == b"0"
        self._body = _framed(told.get(b"content-length", []), told.get(b"transfer-encoding", []), is_old)
        if b"upgrade" in told or b"expect" in told:
            content = self._without_unspoken(content, fields, is_old)
        options = b",".join(told.get(b"connection", ())).split(b",")
        return Head(content, is_old or b"close" in map(bytes.strip, options))

    def _without_unspoken(self, content: bytes, fields: list[re.Match[bytes]], is_old: bool) -> bytes:
        """Without upgrades, and without expectations but for the one that applies: that there is a body to call for."""
        applies = b"" if is_old or self.is_complete else b"100-continue"
        for field in reversed(fields):
            name = field[1].lower()
            if name == b"upgrade" or (name == b"expect" and field[2].lower() != applies):
                content = content[: field.start()] + content[field.end() :]
        return content


def _framed(lengths: list[bytes], codings: list[bytes], is_old: bool) -> "_Counted | _Chunked":
    if not lengths and not codings:
        return NOTHING
    if not lengths and codings == [b"chunked"] and not is_old:
        return _Chunked()
    if not codings and len(lengths) == 1 and LENGTH.fullmatch(lengths[0]):
        return _Counted(int(lengths[0]))
    raise Unframed(ONE_LENGTH)


def taken(waiting: bytearray, count: int) -> bytes:
    """Take `count` bytes off the front, or as many as there are."""
    content = bytes(waiting[:count])
    del waiting[:count]
    return content


class _Counted:
    """A body of known length."""

    def __init__(self, length: int) -> None:
        self._missing = length

    @property
    def is_complete(self) -> bool:
        return not self._missing

    def take(self, waiting: bytearray) -> bytes:
        data = taken(waiting, self._missing)
        self._missing -= len(data)
        return data


NOTHING = _Counted(0)


class _Line(Enum):
    """What the next line of a chunked body is for."""

    BEGINS_CHUNK = auto()
    ENDS_CHUNK = auto()
    TRAILER = auto()


class _Chunked:
    """A body in chunks. The parser gets only the data, as one chunk for all that has arrived."""

    def __init__(self) -> None:
        self._line = _Line.BEGINS_CHUNK
        self._missing = 0
        # How much may still stand around the data. Each byte of data allows for one more.
        self._spare = MOST_HEAD_BYTES
        self.is_complete = False

    def take(self, waiting: bytearray) -> bytes:
        data = bytearray()
        while self._missing or self._reads_line(waiting):
            piece = taken(waiting, self._missing)
            data += piece
            self._missing -= len(piece)
            self._spare += len(piece)
            if self._missing:
                break
        content = b"%x\r\n%b\r\n" % (len(data), bytes(data)) if data else b""
        return content + b"0\r\n\r\n" if self.is_complete else content

    def _reads_line(self, waiting: bytearray) -> bool:
        """Whether there was another line, and the body continues after it."""
        end = waiting.find(b"\n") + 1
        if (end or len(waiting)) > self._spare:
            raise TooLong
        if not end:
            if self._line is _Line.ENDS_CHUNK and bytes(waiting) not in (b"", b"\r"):
                raise Unframed(NO_CHUNK)
            return False
        self._spare -= end
        self._read(taken(waiting, end))
        return not self.is_complete

    def _read(self, line: bytes) -> None:
        match self._line:
            case _Line.BEGINS_CHUNK if size := CHUNK.fullmatch(line):
                self._missing = int(size[1], 16)
                self._line = _Line.ENDS_CHUNK if self._missing else _Line.TRAILER
            case _Line.ENDS_CHUNK if line == b"\r\n":
                self._line = _Line.BEGINS_CHUNK
            case _Line.TRAILER if line == b"\r\n":
                self.is_complete = True
            case _Line.TRAILER if FIELD.fullmatch(line):
                pass
            case _:
                raise Unframed(NO_CHUNK)
