"""Logs: one JSON object per line, or text for people; each with the id of its request.

An error is logged with its class and place, never with its text, which may quote the instance.
"""

import asyncio
import json
import logging
import sys
import threading
import traceback
from datetime import UTC, datetime
from typing import Any

from uvicorn.logging import DefaultFormatter

from app.observing.log_lines import LogLines
from app.observing.observed_requests import ObservedRequest, under_way
from app.settings import Settings

logger = logging.getLogger("flipset")
requests = logging.getLogger("flipset.requests")


# What all handlers of a process write to: the error output.
LINES = LogLines(2)
_ENCODER = json.JSONEncoder(separators=(",", ":"))

# Nobody needs the thread or process of a record, and finding them doubles the time of a line.
logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False


def log_config(settings: Settings) -> dict[str, Any]:
    """The configuration for `logging.config`: everything, uvicorn's lines too, in one place and one format."""
    chosen = settings.log_format or ("text" if sys.stderr.isatty() else "json")
    formatter = {"json": {"()": JsonFormatter}, "text": {"()": TextFormatter, "fmt": "%(levelprefix)s %(message)s"}}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"default": formatter[chosen]},
        "handlers": {"default": {"()": Handler, "formatter": "default"}},
        "root": {"handlers": ["default"], "level": settings.log_level.upper()},
        # One line for each call of a predictor, and for each event of a record, would say nothing new.
        "loggers": {"uvicorn": {"level": settings.log_level.upper()}, "httpx": {"level": "WARNING"}},
    }


class Handler(logging.Handler):
    """Passes each line to `LogLines`. After dropped lines, the next line says how many."""

    def __init__(self, lines: LogLines = LINES) -> None:
        super().__init__()
        self._lines = lines
        self._dropped = 0

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self._encoded(record)
            if self._dropped and self._lines.put(self._encoded(_gap(self._dropped))):
                self._dropped = 0
            if self._dropped or not self._lines.put(line):
                self._dropped += 1
                self._lines.on_dropped()
        except Exception:  # noqa: BLE001  # a line that cannot be written is lost, and nothing else is
            self.handleError(record)

    def _encoded(self, record: logging.LogRecord) -> bytes:
        return f"{self.format(record)}\n".encode("utf-8", "backslashreplace")

    def flush(self) -> None:
        self._lines.flush()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # the name is logging's
        """Python would print the record with all it holds."""


def _gap(count: int) -> logging.LogRecord:
    message = "lines are missing here: the log was not read"
    return logger.makeRecord(
        logger.name, logging.WARNING, "", 0, message, (), None, extra={"facts": {"dropped": count}}
    )


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
    """uvicorn's lines for people, followed by the facts."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # the name is logging's
        facts = " ".join(f"{name}={value}" for name, value in _facts(record).items())
        return f"{super().formatMessage(record)} {facts}".rstrip()

    def formatException(self, ei: Any) -> str:  # noqa: N802  # the name is logging's
        return f"{ei[0].__name__}\n{_where(ei[1])}" if ei[1] is not None else ""


def _facts(record: logging.LogRecord) -> dict[str, Any]:
    facts: dict[str, Any] = getattr(record, "facts", {})
    observed = under_way()
    return facts if observed is None else {"request_id": observed.request_id, **facts}


def _where(error: BaseException) -> str:
    return "".join(traceback.format_tb(error.__traceback__))


def log_request(observed: ObservedRequest) -> None:
    """One line for each request, when it has ended."""
    if not requests.isEnabledFor(logging.INFO):
        return
    facts: dict[str, Any] = {
        "method": observed.method,
        "route": observed.route,
        "status": observed.status,
        "duration_ms": round(observed.seconds * 1000, 3),
        "sent_bytes": observed.sent_bytes,
    }
    for name in ("problem", "key_id", "client", "trace_id", "model"):
        if (value := getattr(observed, name)) is not None:
            facts[name] = value
    if (figures := observed.figures) is not None:
        facts |= {
            "engine": figures.engine,
            "outcome": figures.outcome,
            "count": figures.count,
            "model_rows": figures.model_rows,
            "stopped_by": figures.stopped_by,
        }
    elif observed.model_rows:
        facts["model_rows"] = observed.model_rows
    if observed.disconnected:
        facts["disconnected"] = True
    # As requests.info() would, without looking for the caller.
    requests.handle(
        requests.makeRecord(requests.name, logging.INFO, "", 0, "request", (), None, extra={"facts": facts})
    )


def quieten(loop: asyncio.AbstractEventLoop) -> None:
    """Log uncaught errors like all others: Python would print their texts."""
    loop.set_exception_handler(lambda _, context: _uncaught(context.get("exception")))
    threading.excepthook = lambda event: _uncaught(event.exc_value)
    sys.unraisablehook = lambda event: _uncaught(event.exc_value)
    logging.captureWarnings(capture=True)


def _uncaught(error: BaseException | None) -> None:
    logger.error("an error that nobody caught", exc_info=error)
