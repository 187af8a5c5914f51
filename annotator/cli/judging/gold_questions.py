"""`annotator test-questions`: documents whose grade is known, mixed in with the others."""

from datetime import UTC, datetime

import click

from annotator.cli.site.argument_text import FILE
from annotator.cli.site.audit_note import note
from annotator.cli.site.formats import Table, format_option, show_tables
from annotator.cli.site.input_files import read_file
from annotator.cli.site.installation import Installation, on_installation
from annotator.workflows.judging import gold_answers, gold_questions
from annotator.workflows.judging.gold_questions import StoredQuestions

number = click.argument("number", metavar="TOPIC")
document = click.argument("docno")


@click.group
def command() -> None:
    """Test questions: documents whose grade is known, mixed in; judges cannot tell and never see that grade."""


@command.command("import")
@click.argument("slug")
@click.argument("file", type=FILE)
@on_installation
def import_file(installation: Installation, slug: str, file: str) -> None:
    """Import lines of TOPIC<TAB>DOCNO<TAB>GRADE; documents outside the pool join it."""
    given = read_file(file)
    limit = installation.settings.unpacked_limit
    with installation.database.reading() as session:
        checked = gold_questions.check_questions(session, slug, given, unpacked_limit=limit)
    with installation.database.transaction() as session:
        done = gold_questions.store_questions(session, slug, checked, added_by_id=None, added_at=datetime.now(UTC))
        note(session, "test-questions.import", slug, subject=given.name, details=vars(done))
    _tell(done)


@command.command("add")
@click.argument("slug")
@number
@document
@click.argument("grade", type=int)
@on_installation
def add(installation: Installation, slug: str, number: str, docno: str, grade: int) -> None:
    """Make a document of a topic a test question whose right grade is GRADE; it joins the pool when it is outside."""
    with installation.database.transaction() as session:
        checked = gold_questions.one_question(session, slug, number, docno, grade)
        done = gold_questions.store_questions(session, slug, checked, added_by_id=None, added_at=datetime.now(UTC))
        note(session, "test-questions.add", slug, subject=number, details=vars(done))
    _tell(done)


@command.command("remove")
@click.argument("slug")
@number
@document
@on_installation
def remove(installation: Installation, slug: str, number: str, docno: str) -> None:
    """Let a document be like others again; it stays in the pool, with its judgements."""
    with installation.database.transaction() as session:
        gold_questions.remove_questions(session, slug, [(number, docno)])
        note(session, "test-questions.remove", slug, subject=number)
    click.echo(f"Document {docno} is no test question of topic {number} any more.", err=True)


@command.command("list")
@click.argument("slug")
@format_option()
@on_installation
def show(installation: Installation, slug: str, format_: str) -> None:
    """List the test questions with how the grades fell, and below them how each judge answered."""
    with installation.database.reading() as session:
        answers = gold_answers.show_answers(session, slug)
    show_tables(
        format_,
        Table(
            "questions",
            ["TOPIC", "DOCUMENT", "GRADE", "ANSWERED", "RIGHT", "GRADES GIVEN"],
            [
                [
                    one.topic,
                    one.docno,
                    one.known_grade,
                    one.answered,
                    one.right,
                    " ".join(f"{grade}:{count}" for grade, count in one.fell if count) or None,
                ]
                for one in answers.questions
            ],
        ),
        Table(
            "judges",
            ["JUDGE", "ANSWERED", "RIGHT", "SHARE", "COULD NOT JUDGE"],
            [[one.judge, one.answered, one.right, one.share, one.could_not] for one in answers.judges],
        ),
    )


def _tell(done: StoredQuestions) -> None:
    click.echo(
        f"Test questions: {done.added} added, {done.changed} changed, {done.known} known already; "
        f"documents added to the pool: {done.pooled}.",
        err=True,
    )
