"""Code shared by all commands: options, output, progress; and the commands for the database and the settings."""
