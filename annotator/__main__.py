"""`python -m annotator` is `annotator`."""

from annotator.cli import main

# Processes that the server starts import this module again and must not start over.
if __name__ == "__main__":
    main(prog_name="annotator")
