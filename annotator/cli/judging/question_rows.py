"""Questions as the commands list them, of the database and of a site; without heavy imports."""

from collections.abc import Iterable, Mapping
from typing import Any

import click

from annotator.cli.site.tables import show_rows

HEADINGS = ("NUMBER", "BY", "TEAM", "RUN", "TOPIC", "DOCUMENT", "ASKED", "QUESTION", "ANSWER", "PUBLIC")
FIELDS = ("number", "judge", "team", "run", "topic", "docno", "asked_at", "text", "answer", "is_public")

open_option = click.option("--open", "only_open", is_flag=True, help="Only questions without an answer.")
public_option = click.option(
    "--public/--private",
    default=None,
    help="Whether all judges of the topic, or all participants, see question and answer, but not who asked. New "
    "answers are private.",
)


def show_questions(format_: str, questions: Iterable[Mapping[str, Any]]) -> None:
    """List questions for organisers; an answer that is empty is none."""
    rows = [[one[name] or None if name == "answer" else one[name] for name in FIELDS] for one in questions]
    show_rows(format_, HEADINGS, rows)


def say_answered(number: int) -> None:
    """Note on standard error that a question is answered."""
    click.echo(f"Question {number} is answered.", err=True)
