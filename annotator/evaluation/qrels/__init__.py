"""Reading, writing and settling of qrels."""
