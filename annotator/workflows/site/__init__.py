"""Workflows of the site as a whole."""
