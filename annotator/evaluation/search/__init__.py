"""Search queries, snippets and near-duplicates."""
