"""Metrics, significance tests and audits. Strings in, numbers out; no torch."""
