"""Files of topics, documents, people and labels; and what all parsers share."""
