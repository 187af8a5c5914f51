"""Pages of qrels."""
