"""`flipset drift`: the command, what it does, and what it prints."""
