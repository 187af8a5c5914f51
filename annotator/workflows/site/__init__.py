"""The site as a whole: background jobs."""
