"""What is written down: one JSON object a line, or text for people; each with the id of the request that it is about.

An error is told by its kind and its place, never by its text: that may quote the instance.
"""

import asyncio
import json
import logging
import os
import sys
import threading
import traceback
from datetime import UTC, datetime
from typing import Any

from uvicorn.logging import DefaultFormatter

from app.api.exchanges import Exchange, under_way
from app.settings import Settings

logger = logging.getLogger("flipset")
requests = logging.getLogger("flipset.requests")


STDERR = 2
_ENCODER = json.JSONEncoder(separators=(",", ":"))

# Who asks for a record's thread or process? Finding them out takes as long as all the rest.
logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False


def log_config(settings: Settings) -> dict[str, Any]:
    """Everything to one place in one form, uvicorn's own lines too; in the words of `logging.config`."""
    chosen = settings.log_format or ("text" if sys.stderr.isatty() else "json")
    formatter = {"json": {"()": JsonFormatter}, "text": {"()": TextFormatter, "fmt": "%(levelprefix)s %(message)s"}}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"default": formatter[chosen]},
        "handlers": {"default": {"()": _Handler, "formatter": "default"}},
        "root": {"handlers": ["default"], "level": settings.log_level.upper()},
        "loggers": {"uvicorn": {"level": settings.log_level.upper()}},
    }


class _Handler(logging.Handler):
    """Writes each line in one piece to the error output, so that the lines of several processes do not mix."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            os.write(STDERR, f"{self.format(record)}\n".encode("utf-8", "backslashreplace"))
        except Exception:  # noqa: BLE001  # a line that cannot be written is lost, and nothing else is
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # the name is logging's
        """Python would print the record with all it holds."""


class JsonFormatter(logging.Formatter):
    """One object a line."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_facts(record),
        }
        if record.exc_info and record.exc_info[1] is not None:
            line |= {"error": type(record.exc_info[1]).__name__, "where": _where(record.exc_info[1])}
        return _ENCODER.encode(line)


class TextFormatter(DefaultFormatter):
    """uvicorn's lines for people, with what else there is to say behind them."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # the name is logging's
        facts = " ".join(f"{name}={value}" for name, value in _facts(record).items())
        return f"{super().formatMessage(record)} {facts}".rstrip()

    def formatException(self, ei: Any) -> str:  # noqa: N802  # the name is logging's
        return f"{ei[0].__name__}\n{_where(ei[1])}" if ei[1] is not None else ""


def _facts(record: logging.LogRecord) -> dict[str, Any]:
    facts: dict[str, Any] = getattr(record, "facts", {})
    exchange = under_way()
    return facts if exchange is None else {"request_id": exchange.request_id, **facts}


def _where(error: BaseException) -> str:
    return "".join(traceback.format_tb(error.__traceback__))


def log_request(exchange: Exchange) -> None:
    """One line for each request, when it has ended."""
    if not requests.isEnabledFor(logging.INFO):
        return
    facts: dict[str, Any] = {
        "method": exchange.method,
        "route": exchange.route,
        "status": exchange.status,
        "duration_ms": round(exchange.seconds * 1000, 3),
        "sent_bytes": exchange.sent_bytes,
    }
    for name in ("problem", "key_id", "client", "trace_id", "model"):
        if (value := getattr(exchange, name)) is not None:
            facts[name] = value
    if (account := exchange.account) is not None:
        facts |= {
            "engine": account.engine,
            "outcome": account.outcome,
            "count": account.count,
            "model_rows": account.model_rows,
            "stopped_by": account.stopped_by,
        }
    elif exchange.model_rows:
        facts["model_rows"] = exchange.model_rows
    if exchange.disconnected:
        facts["disconnected"] = True
    # As requests.info() would, without looking for the caller.
    requests.handle(
        requests.makeRecord(requests.name, logging.INFO, "", 0, "request", (), None, extra={"facts": facts})
    )


def quieten(loop: asyncio.AbstractEventLoop) -> None:
    """Have what nobody catches logged like the rest: Python would print the texts of the errors."""
    loop.set_exception_handler(lambda _, context: _uncaught(context.get("exception")))
    threading.excepthook = lambda event: _uncaught(event.exc_value)
    sys.unraisablehook = lambda event: _uncaught(event.exc_value)
    logging.captureWarnings(capture=True)


def _uncaught(error: BaseException | None) -> None:
    logger.error("an error that nobody caught", exc_info=error)
