"""Queries of documents."""
