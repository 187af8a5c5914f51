"""Queries for people."""
