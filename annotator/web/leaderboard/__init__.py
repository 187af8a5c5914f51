"""Pages of the leaderboard."""
