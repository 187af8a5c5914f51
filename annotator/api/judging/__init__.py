"""API operations on judging."""
