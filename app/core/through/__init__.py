"""Searches that see through the model: what is proved by its structure, and not by asking about every row."""
