"""`annotator training` and `annotator gold-questions`: documents of known grade, before judging or mixed into it."""

from datetime import UTC, datetime

import click

from annotator.cli.site.files import FILE, read_file
from annotator.cli.site.installation import Installation, note, on_installation
from annotator.cli.site.tables import Row, Table, format_option, show_rows, show_tables
from annotator.storage.judging.judge_desk import Attempt
from annotator.workflows.judging import gold_questions, training
from annotator.workflows.judging.gold_questions import StoredQuestions
from annotator.workflows.judging.training import TrainingResult

number = click.argument("number", metavar="TOPIC")

document = click.argument("docno")


NO_MARK = "none"
ALL_DOCUMENTS = "all"
MOST_DIGITS = 5


@click.group
def command() -> None:
    """Training: documents with known grades that judges answer before real work, and their results."""


@command.command("import")
@click.argument("slug")
@click.argument("file", type=FILE)
@on_installation
def import_file(installation: Installation, slug: str, file: str) -> None:
    """Add documents: lines of TOPIC<TAB>DOCNO<TAB>GRADE<TAB>EXPLANATION, plain or gzip, in the order of showing."""
    given = read_file(file)
    limit = installation.settings.unpacked_limit
    checked = installation.database.read(training.check_training, slug, given, unpacked_limit=limit)
    with installation.database.transaction() as session:
        count = training.store_training(session, slug, checked)
        note(session, "training.import", slug, subject=given.name, details={"documents": count})
    click.echo(f"Documents added to the training: {count}.", err=True)


@command.command("list")
@click.argument("slug")
@format_option()
@on_installation
def list_documents(installation: Installation, slug: str, format_: str) -> None:
    """List the training documents with the number of right answers to each."""
    shown = installation.database.read(training.show_training, slug)
    show_rows(
        format_,
        ["TOPIC", "DOCUMENT", "GRADE", "RIGHT", "ANSWERS", "EXPLANATION"],
        [[row.topic, row.docno, row.grade, row.right, row.answered, row.explanation or None] for row in shown.rows],
    )


@command.command("set")
@click.argument("slug")
@click.option(
    "--pass-mark",
    "mark",
    metavar="PERCENT|none",
    help="The percentage of right answers that judges need before real work; none makes the training optional.",
)
@click.option(
    "--per-attempt",
    "size",
    metavar="NUMBER|all",
    help="The number of documents that an attempt draws, others than before as long as there are any.",
)
@on_installation
def set_rules(installation: Installation, slug: str, mark: str | None, size: str | None) -> None:
    """Set the pass mark and the number of documents of an attempt."""
    if mark is None and size is None:
        raise click.UsageError("Give --pass-mark or --per-attempt.")
    shown = installation.database.read(training.show_training, slug)
    percent = shown.pass_mark if mark is None else _number(mark, NO_MARK, "--pass-mark")
    documents = shown.size if size is None else _number(size, ALL_DOCUMENTS, "--per-attempt")
    with installation.database.transaction() as session:
        training.set_rules(session, slug, percent, documents)
        note(session, "training.pass-mark", slug, details={"percent": percent, "documents": documents})
    click.echo("No training is asked for." if percent is None else f"The pass mark is {percent} %.", err=True)
    click.echo(f"Documents of an attempt: {'all' if documents is None else documents}.", err=True)


def _number(written: str, none: str, option: str) -> int | None:
    if written == none:
        return None
    if not (written.isascii() and written.isdigit() and len(written) <= MOST_DIGITS):
        raise click.BadParameter(f"Give a whole number, or “{none}”.", param_hint=option)
    return int(written)


@command.command("remove")
@click.argument("slug")
@click.option("--with-answers", is_flag=True, help="Also delete the judges' answers and their results.")
@on_installation
def remove(installation: Installation, slug: str, *, with_answers: bool) -> None:
    """Remove all training documents."""
    with installation.database.transaction() as session:
        count = training.clear_training(session, slug, with_answers=with_answers)
        note(session, "training.clear", slug, details={"documents": count, "answers": with_answers})
    click.echo(f"Documents taken out of the training: {count}.", err=True)


@command.group("results")
def results() -> None:
    """Results of the judges in the training."""


@results.command("list")
@click.argument("slug")
@format_option()
@on_installation
def list_results(installation: Installation, slug: str, format_: str) -> None:
    """List every attempt of every judge, and whether it passed."""
    with installation.database.reading() as session:
        mark = training.show_training(session, slug).pass_mark
        attempted = training.training_results(session, slug)
    show_rows(
        format_,
        ["JUDGE", "ATTEMPT", "ANSWERED", "OF", "RIGHT", "RESULT", "LAST ANSWER"],
        [row for result in attempted for row in _rows(result, mark)],
    )


def _rows(result: TrainingResult, mark: int | None) -> list[Row]:
    if not result.attempts:
        return [[result.judge, None, None, None, None, "not begun", None]]
    return [
        [result.judge, one.number, one.answered, one.of, one.right, _outcome(one, mark), one.last_at]
        for one in result.attempts
    ]


def _outcome(attempt: Attempt, mark: int | None) -> str:
    if not attempt.is_finished:
        return "not finished"
    if mark is None:
        return "finished"
    return "passed" if attempt.passes(mark) else "not passed"


@click.group
def gold_questions_group() -> None:
    """Gold questions: documents with a known grade among the others; judges cannot recognise them or see that grade."""


@gold_questions_group.command("import")
@click.argument("slug")
@click.argument("file", type=FILE)
@on_installation
def import_gold_questions(installation: Installation, slug: str, file: str) -> None:
    """Import lines of TOPIC<TAB>DOCNO<TAB>GRADE; documents outside the pool are added to it."""
    given = read_file(file)
    limit = installation.settings.unpacked_limit
    checked = installation.database.read(gold_questions.check_questions, slug, given, unpacked_limit=limit)
    with installation.database.transaction() as session:
        done = gold_questions.store_questions(session, slug, checked, added_by_id=None, added_at=datetime.now(UTC))
        note(session, "test-questions.import", slug, subject=given.name, details=vars(done))
    _tell(done)


@gold_questions_group.command("add")
@click.argument("slug")
@number
@document
@click.argument("grade", type=int)
@on_installation
def add_gold_question(installation: Installation, slug: str, number: str, docno: str, grade: int) -> None:
    """Make a document of a topic a gold question with the right grade GRADE; the pool takes it when it is outside."""
    with installation.database.transaction() as session:
        done = gold_questions.add_question(
            session, slug, number, docno, grade, added_by_id=None, added_at=datetime.now(UTC)
        )
        note(session, "test-questions.add", slug, subject=number, details=vars(done))
    _tell(done)


@gold_questions_group.command("remove")
@click.argument("slug")
@number
@document
@on_installation
def remove_gold_question(installation: Installation, slug: str, number: str, docno: str) -> None:
    """Make a gold question an ordinary document again; it stays in the pool, with its judgements."""
    with installation.database.transaction() as session:
        gold_questions.remove_questions(session, slug, [(number, docno)])
        note(session, "test-questions.remove", slug, subject=number)
    click.echo(f"Document {docno} is no gold question of topic {number} any more.", err=True)


@gold_questions_group.command("list")
@click.argument("slug")
@format_option()
@on_installation
def list_gold_questions(installation: Installation, slug: str, format_: str) -> None:
    """List the gold questions with the grades that judges gave, and the results of each judge."""
    answers = installation.database.read(gold_questions.show_answers, slug)
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
        f"Gold questions: {done.added} added, {done.changed} changed, {done.known} known already; "
        f"documents added to the pool: {done.pooled}.",
        err=True,
    )
