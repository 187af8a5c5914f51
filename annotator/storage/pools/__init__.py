"""Queries of pools."""
