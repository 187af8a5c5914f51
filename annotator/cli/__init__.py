"""The command line: words in, one workflow, words out. No SQL, no arithmetic; a module a noun, imported when needed."""

from annotator.cli.root import main

__all__ = ["main"]
