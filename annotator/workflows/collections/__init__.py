"""Collections: settings, rounds, archives, deletion, and the audit log."""
