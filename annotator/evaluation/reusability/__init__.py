"""Reusability: missed relevant documents, bias against runs outside the pool, and the effect of fewer judgements."""
