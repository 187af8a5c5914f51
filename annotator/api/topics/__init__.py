"""API operations on topics."""
