"""Pages of click logs."""
