"""Workflows of judging."""
