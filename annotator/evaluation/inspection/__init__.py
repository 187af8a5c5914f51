"""Inspection of one run, one topic, or two runs: the documents and topics behind the leaderboard's numbers."""
