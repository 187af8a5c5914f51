"""Commands of topics."""
