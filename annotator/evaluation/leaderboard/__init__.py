"""Scores of many runs, arranged as tables."""
