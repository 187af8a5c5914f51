"""Database, schema, jobs and backups, and helpers for all queries."""
