"""Documents: import, search, and duplicates."""
