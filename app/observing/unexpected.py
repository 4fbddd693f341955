"""Unexpected errors: only operators see them."""

import logging
import traceback

# Log filters may match this name: it must stay, wherever the module is.
logger = logging.getLogger("app.api.errors")


def log_unexpected(error: Exception) -> None:
    """Log where it happened, without its text, which may quote the instance."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    logger.error("unexpected %s\n%s", type(error).__name__, frames)
