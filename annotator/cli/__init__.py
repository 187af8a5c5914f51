"""The command line: each command calls one workflow. No SQL, no arithmetic; a module per noun, imported when needed."""

from annotator.cli.root import main

__all__ = ["main"]
