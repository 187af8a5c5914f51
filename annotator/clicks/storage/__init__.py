"""Queries of click logs."""
