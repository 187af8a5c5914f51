"""Queries for the leaderboard."""
