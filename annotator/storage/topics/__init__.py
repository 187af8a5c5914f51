"""Queries of topics."""
