"""Parsing, validation and ranking of runs."""
