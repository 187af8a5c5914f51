"""Workflows of people."""
