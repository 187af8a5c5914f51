"""Runs the command line for `python -m annotator`."""

from annotator.cli import main

# Child processes of the server import this module again and must not run the command again.
if __name__ == "__main__":
    main(prog_name="annotator")
