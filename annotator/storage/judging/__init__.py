"""Queries of judging."""
