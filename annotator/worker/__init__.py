"""Background worker: runs long requests as jobs, one at a time, through the same views as the pages."""
