"""API operations on runs."""
