"""The leaderboard and the reports on runs and measures."""
