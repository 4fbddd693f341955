"""Flipset: every minimal set of changes that turns a model's decision."""

__version__ = "0.1.0"
