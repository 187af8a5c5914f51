"""What people do: one verb-named function each, the session first; who, when and seed are arguments; no commit."""
