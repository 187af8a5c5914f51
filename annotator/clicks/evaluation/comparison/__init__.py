"""Comparison of the variants of a click log."""
