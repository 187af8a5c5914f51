"""API operations on click logs."""
