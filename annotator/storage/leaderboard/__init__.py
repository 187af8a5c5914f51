"""Queries of the leaderboard."""
