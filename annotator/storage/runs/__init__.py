"""Queries for runs."""
