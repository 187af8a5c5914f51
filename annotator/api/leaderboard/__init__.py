"""API operations on the leaderboard."""
