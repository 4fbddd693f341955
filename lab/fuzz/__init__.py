"""Requests that nobody would send on purpose, made from those that one would; no answer to them may be a defect."""
