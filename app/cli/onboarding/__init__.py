"""`flipset init`, `flipset ranges` and `flipset compare`: the commands, what they do, and what they print."""
