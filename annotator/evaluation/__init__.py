"""The pure part: text and numbers in, values out. NumPy, SciPy and the standard library only; no database, no web."""
