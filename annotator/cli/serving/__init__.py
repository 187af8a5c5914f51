"""Commands that serve the site, and the processes that they start."""
