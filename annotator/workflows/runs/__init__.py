"""Runs: upload, changes, costs, and the rules for submissions."""
