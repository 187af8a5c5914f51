"""Database, schema, jobs and backups, and what all queries share."""
