"""Use cases, one function each: the session comes first; user, time and seed are arguments; no commit."""
