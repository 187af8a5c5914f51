"""Workflows of agreement."""
