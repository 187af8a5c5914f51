"""Queries for topics."""
