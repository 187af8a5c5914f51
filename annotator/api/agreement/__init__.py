"""API operations on agreement."""
