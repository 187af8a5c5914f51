"""Queries for qrels."""
