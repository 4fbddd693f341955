"""The layers around every request."""
