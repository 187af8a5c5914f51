"""Queries of runs."""
