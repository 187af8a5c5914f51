"""The web pages. No SQL, no arithmetic: a view parses its input, calls one workflow and renders the result."""
