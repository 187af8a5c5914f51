"""Parsing, formatting and consensus of qrels."""
