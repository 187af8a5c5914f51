"""Pools: planning, building, adaptive selection, and simulation."""
