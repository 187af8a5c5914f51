"""Reading and analysis of click logs."""
