"""The command line: one file per command, each a function that parses and prints and plain functions that do."""

from recombine.cli.app import main

__all__ = ["main"]
