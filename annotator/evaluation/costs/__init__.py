"""What a system costs: which facts there are, how they are read and written, and which runs nobody beats on both."""
