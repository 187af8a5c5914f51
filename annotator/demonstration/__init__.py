"""The demonstration: Python's own documentation, five search systems, topics and two labellings."""
