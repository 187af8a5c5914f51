"""A closer look at one run, one topic, or two runs: what stands behind the leaderboard's numbers."""
