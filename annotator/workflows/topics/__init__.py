"""Workflows of topics."""
