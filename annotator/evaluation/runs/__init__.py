"""Reading, checking and ranking of runs."""
