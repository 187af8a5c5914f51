"""`annotator questions`: what judges ask, and the answers."""

from datetime import UTC, datetime

import click

from annotator.cli.site.installation import Installation, note, on_installation
from annotator.cli.site.tables import format_option, show_rows
from annotator.workflows.judging import questions


@click.group
def command() -> None:
    """Questions of the judges to the organisers: list and answer them."""


@command.command("list")
@click.argument("slug")
@click.option("--open", "only_open", is_flag=True, help="Only questions without an answer.")
@format_option()
@on_installation
def show(installation: Installation, slug: str, format_: str, *, only_open: bool) -> None:
    """List the questions, open ones first."""
    with installation.database.reading() as session:
        rows = questions.list_questions(session, slug)
    show_rows(
        format_,
        ["NUMBER", "JUDGE", "TOPIC", "DOCUMENT", "ASKED", "QUESTION", "ANSWER"],
        [
            [row.id, row.judge, row.topic, row.docno, row.asked_at, row.text, row.answer or None]
            for row in rows
            if row.is_open or not only_open
        ],
    )


@command.command("answer")
@click.argument("slug")
@click.argument("number", type=click.IntRange(1, 999_999_999))
@click.argument("text")
@on_installation
def answer(installation: Installation, slug: str, number: int, text: str) -> None:
    """Answer the question NUMBER, or change its answer; the judge sees it."""
    with installation.database.transaction() as session:
        questions.answer(session, slug, number, text, answered_by_id=None, answered_at=datetime.now(UTC))
        note(session, "questions.answer", slug, subject=number)
    click.echo(f"Question {number} is answered.", err=True)
