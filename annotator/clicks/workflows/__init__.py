"""Workflows of click logs."""
