"""Files of topics, documents, people and labels; and code shared by all parsers."""
