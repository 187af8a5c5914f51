"""What `import annotator` offers: evaluation, comparison, agreement, pools and simulation on files, dicts and frames.

Nothing here needs a database or a server. Frames of pandas, polars and pyarrow are read by their column names, and
written when their package is installed; none of them is required.
"""
