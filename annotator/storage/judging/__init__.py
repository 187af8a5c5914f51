"""Queries for judging."""
