"""The format of archives of collections, and the words in them."""
