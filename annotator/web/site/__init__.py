"""What all pages share: forms, access, formatting, translation, background jobs."""
