"""API operations on pools."""
