"""Workflows of pools."""
