"""Commands of collections."""
