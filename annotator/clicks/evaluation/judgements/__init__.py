"""Clicks beside judgements."""
