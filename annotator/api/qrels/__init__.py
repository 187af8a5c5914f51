"""API operations on qrels."""
