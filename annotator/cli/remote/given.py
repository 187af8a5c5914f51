"""The address of a remote site, and the commands that work on one; imported with the root, so without heavy imports."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module

import click

GIVEN = "annotator.cli.site"
# The module, the command's name in it, and its summary in the list of commands.
NOUNS: Mapping[str, tuple[str, str, str]] = {
    "collections": ("annotator.cli.remote.commands", "collections", "Your collections, with your roles; release kits."),
    "guidelines": ("annotator.cli.remote.judge", "guidelines", "Guidelines for judges: show them, accept them."),
    "documents": ("annotator.cli.remote.commands", "documents", "Documents: import texts; the list of valid docnos."),
    "runs": ("annotator.cli.remote.commands", "runs", "Runs: check, import, list, export, compare, withdraw."),
    "questionnaire": (
        "annotator.cli.runs.questionnaire",
        "command",
        "Questions about every run, and the answers of teams.",
    ),
    "questions": ("annotator.cli.remote.questions", "command", "Questions to the organisers, and the answers."),
    "announcements": (
        "annotator.cli.collections.announcements",
        "command",
        "Announcements: read them; publish and withdraw them.",
    ),
    "judge": ("annotator.cli.remote.judge", "command", "Judge on a site, as a program: draw documents, grade them."),
    "qrels": ("annotator.cli.remote.commands", "qrels", "Qrels: export the settled grades."),
    "leaderboard": ("annotator.cli.remote.commands", "leaderboard", "Scores of all runs, or of your team's runs."),
    "gate": ("annotator.cli.leaderboard.gate", "command", "Fail a build when a run scores worse than a baseline."),
    "costs": ("annotator.cli.leaderboard.costs", "command", "Costs of each system, beside its scores."),
    "clicks": (
        "annotator.clicks.cli.clicks",
        "command",
        "Click logs: check them, compare variants of a search, add them to a collection.",
    ),
}
# Works only on a site, not on a local database.
ONLY_ON_SITE = frozenset({"judge"})
# These work on files and need neither site nor database.
ANYWHERE = frozenset({"check", "compare", "evaluate", "interleave", "measures"})


@dataclass(frozen=True)
class SiteGiven:
    """The address of the site and the token for its API."""

    address: str
    token: str | None


def command_on_site(name: str) -> click.Command:
    """The command of a noun for remote sites; `UsageError` for one that needs a local database."""
    if name not in NOUNS:
        raise click.UsageError(
            f"With --site, or ANNOTATOR_SITE, there is {', '.join(sorted({*NOUNS, *ANYWHERE}))}. “{name}” works on a "
            "local database."
        )
    module, attribute, _ = NOUNS[name]
    command: click.Command = getattr(import_module(module), attribute)
    return command
