"""Creation of interleaved lists and scoring of their clicks."""
