"""A live server under a mixed load for minutes: what it must bear, counted and checked."""
