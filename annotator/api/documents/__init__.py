"""API operations on documents."""
