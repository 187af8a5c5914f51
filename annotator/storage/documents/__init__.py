"""Queries for documents."""
