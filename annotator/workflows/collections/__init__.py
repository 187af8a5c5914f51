"""Workflows of collections."""
