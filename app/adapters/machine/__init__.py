"""The machine below: its C library, its core dumps, what processes share, and the packages that are installed."""
