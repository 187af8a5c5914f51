"""A finished collection as a folder to publish: its files, its description, and the pseudonyms of teams and runs."""
