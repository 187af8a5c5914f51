"""Commands of pools."""
