"""Measures: each a short function over a batch of judged rankings that gives one value a ranking."""
