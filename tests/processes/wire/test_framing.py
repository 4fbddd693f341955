"""Where a request ends: only one answer for every reader, or a refusal."""

from random import Random
from typing import Any

import h11
import httptools
import pytest

from app.processes.wire.framing import MOST_HEAD_BYTES, Framer, TooLong, Unframed
from tests.live.clients.odd_requests import OddRequests
from tests.support.scale import scaled
from tests.support.seeds import Seeds

Message = tuple[bytes, bool, bytes]
GET = b"GET /livez HTTP/1.1\r\nHost: here\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 5\r\n\r\nhello"
CHUNKS = b"POST / HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: Chunked\r\n\r\n"


def framed(sent: bytes, *cuts: int) -> list[Message]:
    """What goes on to the parser: each head, whether it is the last, and its body. The bytes come cut into pieces."""
    framer, messages = Framer(), []
    for start, end in zip((0, *cuts), (*cuts, len(sent)), strict=True):
        framer.feed(sent[start:end])
        while True:
            if not framer.is_complete:
                head, is_last, body = messages.pop()
                messages.append((head, is_last, body + framer.body()))
                if not framer.is_complete:
                    break
            elif found := framer.head():
                messages.append((found.content, found.is_last, framer.body()))
            else:
                break
    assert framer.is_complete
    assert not framer.waiting
    return messages


def test_plain_requests_go_on_as_they_are():
    get, post = (GET, False, b""), (POST[:-5], False, b"hello")
    assert framed(GET + POST + b"\r\n" + GET) == [get, post, get]


def test_it_does_not_matter_in_which_pieces_the_bytes_come():
    sent = POST + CHUNKS + b"5;x=y\r\nhello\r\n0\r\nX: y\r\n\r\n" + GET
    (_, chunked, get) = whole = framed(sent)
    assert (chunked[2], get) == (b"5\r\nhello\r\n0\r\n\r\n", (GET, False, b""))
    for cut in range(len(sent)):
        messages = framed(sent, cut)
        assert [data_of(message) for message in messages] == [data_of(message) for message in whole]
    assert [data_of(message) for message in framed(sent, *range(len(sent)))] == [data_of(message) for message in whole]


def data_of(message: Message) -> tuple[bytes, bool, bytes]:
    """With the chunks of the body joined: how many there are depends on the pieces."""
    head, is_last, body = message
    if b"Chunked" not in head:
        return message
    data = b""
    while size := int(body[: body.index(b"\r\n")], 16):
        start = body.index(b"\r\n") + 2
        data, body = data + body[start : start + size], body[start + size + 2 :]
    return head, is_last, data


@pytest.mark.parametrize(
    "head",
    [
        b"GET /livez HTTP/1.1\nHost: here\n\n",
        b"GET /livez HTTP/1.1\r\nHost: here\n\r\n",
        b"GET /livez HTTP/1.1\r\nHost: here\r\nX: a\r\n b\r\n\r\n",
        b"GET /livez HTTP/1.1\r\n Host: here\r\n\r\n",
        b"GET /livez HTTP/1.1\r\nHost : here\r\n\r\n",
        b"GET /livez HTTP/1.1\r\nHost\r\n\r\n",
        b"GET /livez HTTP/1.1\r\n: here\r\n\r\n",
        b"GET /livez HTTP/1.1\r\nX: a\rb\r\n\r\n",
        b"GET /livez HTTP/1.1\r\nX: a\x00b\r\n\r\n",
        b"GET  /livez HTTP/1.1\r\n\r\n",
        b"GET /livez x HTTP/1.1\r\n\r\n",
        b"GET /livez HTTP/1.2\r\n\r\n",
        b"GET /livez\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"CONNECT here:80 HTTP/1.1\r\n\r\n",
        # What does not end yet, and can be no head any more: a handshake of TLS, and a line that another reader ends.
        b"\x16\x03\x01\x02",
        b"GET /livez HTTP/1.1\n",
    ],
)
def test_a_head_that_others_may_read_otherwise_is_refused(head: bytes):
    with pytest.raises(Unframed, match="Send"):
        framed(head)


@pytest.mark.parametrize(
    "fields",
    [
        b"Content-Length: 5\r\nContent-Length: 5",
        b"Content-Length: 5\r\ncontent-length: 6",
        b"Content-Length: 5, 5",
        b"Content-Length: +5",
        b"Content-Length: -5",
        b"Content-Length: 0x5",
        b"Content-Length: 5 5",
        b"Content-Length:",
        b"Content-Length: " + b"9" * 20,
        b"Content-Length: 5\r\nTransfer-Encoding: chunked",
        b"Transfer-Encoding: identity",
        b"Transfer-Encoding: xchunked",
        b"Transfer-Encoding: gzip, chunked",
        b"Transfer-Encoding: chunked, chunked",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        b"Transfer-Encoding:",
    ],
)
def test_a_length_that_is_not_plain_is_refused(fields: bytes):
    with pytest.raises(Unframed, match="one Content-Length"):
        framed(b"POST / HTTP/1.1\r\nHost: here\r\n" + fields + b"\r\n\r\n")


def test_an_old_request_has_no_chunks():
    with pytest.raises(Unframed, match="one Content-Length"):
        framed(CHUNKS.replace(b"1.1", b"1.0") + b"0\r\n\r\n")


@pytest.mark.parametrize(
    "body",
    [
        *(b"5\nhello\r\n", b"5;a\nhello\r\n", b"5 \r\nhello\r\n", b"+5\r\nhello", b"0x5\r\nhello", b"\r\n"),
        *(b"5\r\nhello0\r\n", b"5\r\nhello!", b"5\r\nhello\n", b"5;\x00\r\n", b"f" * 13 + b"\r\n"),
        *(b"0\r\nX: y\n\r\n", b"0\r\n X\r\n\r\n", b"0\r\nX\r\n\r\n"),
    ],
)
def test_a_chunk_that_is_not_plain_is_refused(body: bytes):
    with pytest.raises(Unframed, match="each chunk"):
        framed(CHUNKS + body)


@pytest.mark.parametrize("start", [b"GET /" + b"x" * MOST_HEAD_BYTES, b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 11_000])
@pytest.mark.parametrize("end", [b"", b"\r\n\r\n"])
def test_a_head_that_is_too_long_is_refused(start: bytes, end: bytes):
    with pytest.raises(TooLong):
        framed(start + end)


@pytest.mark.parametrize("around", [b"1\r\nx\r\n", b"1;" + b"x" * 1000 + b"\r\nx\r\n"])
def test_more_around_chunks_than_in_them_is_refused(around: bytes):
    with pytest.raises(TooLong):
        framed(CHUNKS + around * MOST_HEAD_BYTES)


def test_many_small_chunks_are_read():
    assert data_of(framed(CHUNKS + b"20\r\n" + b"x" * 32 + b"\r\n" + b"8\r\n12345678\r\n" * 9_000 + b"0\r\n\r\n")[0])[
        2
    ] == (b"x" * 32 + b"12345678" * 9_000)


def test_the_parser_sees_neither_upgrades_nor_expectations_that_do_not_apply():
    fields = b"Host: here\r\nUPGRADE: h2c\r\nExpect: 100-continue\r\nConnection: Upgrade\r\nexpect: more\r\n"
    upgrade = b"POST / HTTP/1.1\r\n" + fields + b"Content-Length: %d\r\n\r\n%b"
    kept = b"Host: here\r\nExpect: 100-continue\r\nConnection: Upgrade\r\nContent-Length: 2\r\n\r\n"
    assert framed(upgrade % (2, b"{}")) == [(b"POST / HTTP/1.1\r\n" + kept, False, b"{}")]
    ((head, _, _),) = framed(upgrade % (0, b""))
    assert b"xpect" not in head
    ((head, is_last, _),) = framed(upgrade.replace(b"1.1", b"1.0") % (2, b"{}"))
    assert b"xpect" not in head
    assert is_last


@pytest.mark.parametrize(
    ("options", "is_last"),
    [
        (b"close", True),
        (b"keep-alive", False),
        (b"Keep-Alive,CLOSE", True),
        (b"x\r\nConnection: close", True),
        (b"", False),
    ],
)
def test_who_wants_the_connection_closed_asks_for_the_last_time(options: bytes, is_last: bool):
    ((_, found, _),) = framed(b"GET / HTTP/1.1\r\nConnection: " + options + b"\r\n\r\n")
    assert found == is_last


class Collected:
    """What httptools reads."""

    def __init__(self, sent: bytes) -> None:
        self.messages: list[tuple[bytes, bytes, bytes]] = []
        self._parser: Any = httptools.HttpRequestParser(self)
        self._parser.feed_data(sent)

    def on_message_begin(self) -> None:
        self._url, self._body = b"", b""

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        self.messages.append((self._parser.get_method(), self._url, self._body))


def read_by_h11(sent: bytes) -> list[tuple[bytes, bytes, bytes]]:
    connection, messages = h11.Connection(h11.SERVER), []
    connection.receive_data(sent)
    body, request = b"", None
    while not isinstance(event := connection.next_event(), h11.EndOfMessage | type(h11.NEED_DATA)):
        if isinstance(event, h11.Request):
            request = event
        else:
            assert isinstance(event, h11.Data)
            body += event.data
    if request is not None and isinstance(event, h11.EndOfMessage):
        messages.append((request.method, request.target, body))
    assert connection.trailing_data[0] == b""
    return messages


def test_what_goes_on_is_read_alike_by_both_parsers():
    """Of thousands of odd requests."""
    read = 0
    for seed in Seeds(scaled(2_000), first=80_000):
        sent = OddRequests(Random(seed), b"key").draw()  # noqa: S311  # nothing here is a secret
        try:
            ((head, _, body), *_) = framed(sent)
        except (Unframed, AssertionError):
            # Refused, or not at its end.
            continue
        if head.startswith((b"post ", b"PRI ")):
            # Only one of them knows what these are not.
            continue
        ((method, _, _),) = seen = Collected(head + body).messages
        assert seen == read_by_h11(head + body), sent
        assert head.startswith(method + b" ")
        read += 1
    assert read > scaled(500)
