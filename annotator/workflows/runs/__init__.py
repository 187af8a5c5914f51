"""Workflows of runs."""
