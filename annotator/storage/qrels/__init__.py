"""Queries of qrels."""
