"""The command line: one file per command; each parses, calls and prints."""
