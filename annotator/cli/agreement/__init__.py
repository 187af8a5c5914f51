"""Commands of agreement."""
