"""Where a site is, and the commands that work on one; imported with the root, so it imports nothing heavy."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module

import click

GIVEN = "annotator.cli.site"
# The module and the name of each noun's command.
NOUNS: Mapping[str, tuple[str, str]] = {
    "collections": ("results", "collections"),
    "runs": ("runs", "command"),
    "documents": ("documents", "command"),
    "judge": ("judge", "command"),
    "leaderboard": ("results", "leaderboard"),
    "qrels": ("results", "qrels"),
}
# These work on files alone, whatever else there is.
ANYWHERE = frozenset({"evaluate", "interleave", "measures"})


@dataclass(frozen=True)
class SiteGiven:
    """Where the site is, and with which token to call."""

    address: str
    token: str | None


def command_on_site(name: str) -> click.Command:
    """The command of a noun that works on a site; `UsageError` for what works on a database of one's own."""
    if name not in NOUNS:
        raise click.UsageError(
            f"With --site, or ANNOTATOR_SITE, there is {', '.join(NOUNS)}. “{name}” works on a database of one's own."
        )
    module, attribute = NOUNS[name]
    command: click.Command = getattr(import_module(f"annotator.cli.remote.{module}"), attribute)
    return command
