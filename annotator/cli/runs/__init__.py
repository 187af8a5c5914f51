"""Commands of runs."""
