"""Queries for inter-assessor agreement and adjudication."""
