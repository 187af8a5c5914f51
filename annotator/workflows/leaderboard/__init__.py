"""Workflows of the leaderboard."""
