"""Topics: import, editing, trial and export."""
