"""The demonstration: Python's own documentation, six search systems, topics and two labellings."""
