"""Where a site is, and the commands that work on one; imported with the root, so it imports nothing heavy."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module

import click

GIVEN = "annotator.cli.site"
# The module, the name of each noun's command, and what the list of commands says of it.
NOUNS: Mapping[str, tuple[str, str, str]] = {
    "collections": ("annotator.cli.remote.results", "collections", "The collections of which you are a member."),
    "guidelines": ("annotator.cli.remote.judge", "guidelines", "What judges go by: show it, accept it."),
    "documents": ("annotator.cli.remote.documents", "command", "Documents: import texts."),
    "runs": ("annotator.cli.remote.runs", "command", "Runs: check, import, list, export, withdraw."),
    "judge": ("annotator.cli.remote.judge", "command", "Judge on a site, as a program: draw documents, grade them."),
    "qrels": ("annotator.cli.remote.results", "qrels", "Qrels: export the settled grades."),
    "leaderboard": ("annotator.cli.remote.results", "leaderboard", "Every run scored, or your team's."),
    "costs": ("annotator.cli.leaderboard.costs", "command", "What each system costs, beside how well it does."),
    "clicks": (
        "annotator.clicks.cli.clicks",
        "command",
        "Click logs: check them, compare variants of a search, add them to a collection.",
    ),
}
# There is nothing like it for a database of one's own.
ONLY_ON_SITE = frozenset({"judge"})
# These work on files alone, whatever else there is.
ANYWHERE = frozenset({"check", "compare", "evaluate", "interleave", "measures"})


@dataclass(frozen=True)
class SiteGiven:
    """Where the site is, and with which token to call."""

    address: str
    token: str | None


def command_on_site(name: str) -> click.Command:
    """The command of a noun that works on a site; `UsageError` for what works on a database of one's own."""
    if name not in NOUNS:
        raise click.UsageError(
            f"With --site, or ANNOTATOR_SITE, there is {', '.join(sorted({*NOUNS, *ANYWHERE}))}. “{name}” works on a "
            "database of one's own."
        )
    module, attribute, _ = NOUNS[name]
    command: click.Command = getattr(import_module(module), attribute)
    return command
