"""API operations on collections."""
