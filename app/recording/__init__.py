"""Keeping records of answers: what is taken down while one is sent, and asking the same again later."""
