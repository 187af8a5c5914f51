"""What all commands share: options, output, progress; and commands of the database and the settings."""
