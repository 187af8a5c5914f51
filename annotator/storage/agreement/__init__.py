"""Queries of agreement."""
