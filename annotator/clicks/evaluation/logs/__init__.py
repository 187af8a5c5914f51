"""Reading and studying of click logs."""
