"""Costs of systems: facts stated for runs, their parsing and formatting, and the Pareto front."""
