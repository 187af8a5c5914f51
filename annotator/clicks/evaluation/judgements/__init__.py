"""Comparison of clicks with judgements."""
