"""Qrels: export, kept versions, comparison, and qrels of samples."""
