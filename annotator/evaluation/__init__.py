"""Pure functions from text and numbers to values. NumPy, SciPy and the standard library only; no database, no web."""
