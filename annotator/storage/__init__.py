"""Tables and sessions. No decisions."""
