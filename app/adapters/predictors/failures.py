"""What goes wrong with a predictor. No text quotes a row, and no text for clients names the server."""


class PredictorUnavailable(Exception):
    """The predictor did not answer, or not in a way that can be trusted; the text is for the operator.

    `seconds` is how long to wait before asking again.
    """

    def __init__(self, reason: str, seconds: int = 5) -> None:
        super().__init__(reason)
        self.seconds = seconds


class UntrustedReply(Exception):
    """A reply that does not fit the question; the text says why."""
