"""Commands of click logs and interleaving."""
