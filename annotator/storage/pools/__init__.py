"""Queries for pools."""
