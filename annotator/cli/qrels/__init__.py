"""Commands of qrels."""
