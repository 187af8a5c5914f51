"""Workflows of qrels."""
