"""Pages of agreement."""
