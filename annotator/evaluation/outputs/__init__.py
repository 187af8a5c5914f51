"""The formats of files that are written: collections, qrels, judgements and scores."""
