"""Making and scoring of interleaved lists."""
