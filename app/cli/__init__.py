"""The command line: one module a family of commands."""

from app.cli.flipset import cli

__all__ = ["cli"]
