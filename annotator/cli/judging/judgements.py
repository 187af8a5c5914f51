"""`annotator judgements`, `questions` and `clarifications`: judgements by judge, and what organisers tell judges."""

from collections.abc import Sequence
from datetime import UTC, datetime
from secrets import token_hex

import click

from annotator.cli.collections import deletions
from annotator.cli.judging.question_rows import open_option, public_option, say_answered, show_questions
from annotator.cli.people.options import machine_facts, machine_options
from annotator.cli.site.files import FILE, write_or_print
from annotator.cli.site.input_files import from_option, given_files, input_format_option
from annotator.cli.site.installation import Installation, note, note_export, on_installation
from annotator.cli.site.options import dry_run_option, show_outcome
from annotator.cli.site.tables import format_option, show_rows
from annotator.evaluation.formats.input_formats import Holds
from annotator.evaluation.outputs.registry import WRITTEN_BY
from annotator.files import InputFile
from annotator.workflows.judging import clarifications, judge_desk, judgement_files, judgement_import, questions


@click.group
def command() -> None:
    """Judgements: import labels, export all judgements."""


@command.command("import")
@click.argument("slug")
@click.argument("file", type=FILE, required=False)
@click.option("--judge", required=True, metavar="NAME", help="The judge; the account is created if it is new.")
@click.option(
    "--add-to-pool",
    is_flag=True,
    help="Add documents outside the pool to it; without this option they are refused, or stored apart for a machine.",
)
@click.option(
    "--machine", "by_machine", is_flag=True, help="The judge is a machine, described by --model, --prompt and --date."
)
@machine_options
@input_format_option(Holds.LABELS)
@from_option
@dry_run_option
@on_installation
def import_file(
    installation: Installation,
    slug: str,
    file: str | None,
    judge: str,
    model: str,
    prompt_file: str | None,
    labelled_on: datetime | None,
    input_format: str | None,
    sources: Sequence[str],
    *,
    add_to_pool: bool,
    by_machine: bool,
    dry_run: bool,
) -> None:
    """Import qrels or labels as the grades of one judge; -1 means unjudged.

    FILE has TREC's columns, BEIR's, a heading (CSV), or is JSON or Parquet; topics may be given by their queries.
    Six columns (topic, Q0, document, grade, confidence, judge) give confidences, too. Labels of a machine are kept
    apart from people's, and may be of any documents; values that are not on the scale are listed and not counted.
    """
    machine = machine_facts(model, prompt_file, labelled_on) if by_machine else None
    if not by_machine and (model or prompt_file or labelled_on):
        raise click.UsageError("--model, --prompt and --date are of a machine: say --machine, too.")
    limit = installation.settings.unpacked_limit
    paths = [file] if file else []
    checked = _check(
        installation,
        slug,
        given_files(paths, Holds.LABELS, input_format=input_format, sources=sources, unpacked_limit=limit),
        add_to_pool=add_to_pool,
        by_machine=by_machine,
    )
    with installation.database.transaction(keep=not dry_run) as session:
        done = judgement_import.store_judgements(
            session, slug, checked, judge=judge, machine=machine, added_at=datetime.now(UTC)
        )
        note(session, "judgements.import", slug, subject=judge, details=vars(done))
    show_outcome(_counts(judge, done), dry_run=dry_run)


def _check(
    installation: Installation, slug: str, read: list[InputFile], *, add_to_pool: bool, by_machine: bool
) -> judgement_import.CheckedJudgements:
    """Check the one file, list its labels outside the scale, and let go of its content."""
    if len(read) > 1:
        raise click.UsageError("These are several files; import one at a time.")
    with installation.database.reading() as session:
        checked = judgement_import.check_judgements(
            session,
            slug,
            read.pop(),
            add_to_pool=add_to_pool,
            by_machine=by_machine,
            unpacked_limit=installation.settings.unpacked_limit,
        )
    for problem in checked.problems_outside():
        click.echo(str(problem), err=True)
    return checked


def _counts(judge: str, done: judgement_import.JudgementImport) -> str:
    counts = (
        f"Judgements of {judge}: {done.added} added, {done.changed} changed, {done.known} known already, "
        f"{done.unjudged} unjudged; documents added to the pool: {done.pooled}."
    )
    if done.outside:
        counts += f" Outside the scale: {done.outside}."
    if done.outside_pool:
        counts += f" Of documents outside the pool: {done.outside_pool}."
    return counts


@command.command("export")
@click.argument("slug")
@click.option(
    "--format",
    "format_",
    default="csv",
    show_default=True,
    type=click.Choice(list(WRITTEN_BY["judgements export"])),
    help="A table, an object on each line, labels of one judge, or tasks of Label Studio and their configuration.",
)
@click.option("--judge", metavar="NAME", help="The judge whose labels `judge` writes; by default the only machine.")
@click.option("--pseudonyms", is_flag=True, help="Replace the names of people by pseudonyms, in notes too.")
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Write to this file instead of standard output.")
@on_installation
def export(
    installation: Installation, slug: str, format_: str, judge: str | None, output: str | None, *, pseudonyms: bool
) -> None:
    """Export all judgements, also those that were replaced; for Label Studio and `judge` those that count."""
    secret = token_hex(3) if pseudonyms else None
    with installation.database.reading() as session:
        made = judgement_files.judgement_file(session, slug, format_, secret=secret, judge=judge)
        content = b"".join(made.pieces)
    note_export(installation, "judgements.export", slug, details={"format": format_, "pseudonyms": pseudonyms})
    write_or_print(output, content)
    if made.without_text:
        click.echo(f"Judged documents without a text, left out: {made.without_text}.", err=True)


@command.group("notes")
def notes() -> None:
    """Notes of the judges on what they count as relevant."""


@notes.command("list")
@click.argument("slug")
@format_option()
@on_installation
def list_notes(installation: Installation, slug: str, format_: str) -> None:
    """List the notes, by topic and judge."""
    rows = installation.database.read(judge_desk.list_notes, slug)
    show_rows(
        format_,
        ["TOPIC", "JUDGE", "CHANGED", "NOTE"],
        [[row.topic, row.judge, row.changed_at, row.text] for row in rows],
    )


command.add_command(deletions.remove_labels, "remove")
command.add_command(deletions.imports)


@click.group
def questions_group() -> None:
    """Questions of judges and participants to the organisers: list and answer them."""


@questions_group.command("list")
@click.argument("slug")
@open_option
@format_option()
@on_installation
def list_questions(installation: Installation, slug: str, format_: str, *, only_open: bool) -> None:
    """List the questions, open ones first."""
    with installation.database.reading() as session:
        rows = questions.list_questions(session, slug)
    show_questions(format_, [{**vars(row), "number": row.id} for row in rows if row.is_open or not only_open])


@questions_group.command("answer")
@click.argument("slug")
@click.argument("number", type=click.IntRange(1, 999_999_999))
@click.argument("text")
@public_option
@on_installation
def answer_question(installation: Installation, slug: str, number: int, text: str, *, public: bool | None) -> None:
    """Answer the question NUMBER, or change its answer; the person who asked sees it."""
    with installation.database.transaction() as session:
        questions.answer(session, slug, number, text, answered_by_id=None, answered_at=datetime.now(UTC), public=public)
        details = {} if public is None else {"public": public}
        note(session, "questions.answer", slug, subject=number, details=details)
    say_answered(number)


@click.group
def clarifications_group() -> None:
    """Clarifications by the organisers, for all judges of a topic; each judge is shown each once."""


@clarifications_group.command("list")
@click.argument("slug")
@format_option()
@on_installation
def list_clarifications(installation: Installation, slug: str, format_: str) -> None:
    """List clarifications and public answers, the newest first; SEEN counts the judges who have seen one."""
    with installation.database.reading() as session:
        rows = clarifications.list_clarifications(session, slug)
    show_rows(
        format_,
        ["NUMBER", "TOPIC", "QUESTION", "TEXT", "PUBLISHED", "SEEN"],
        [[row.id, row.topic, row.question_id, row.text, row.published_at, row.seen] for row in rows],
    )


@clarifications_group.command("add")
@click.argument("slug")
@click.argument("topic")
@click.argument("text")
@on_installation
def add_clarification(installation: Installation, slug: str, topic: str, text: str) -> None:
    """Add a clarification for all judges of TOPIC, who see it beside the topic."""
    with installation.database.transaction() as session:
        number = clarifications.clarify(
            session, slug, topic, text, published_by_id=None, published_at=datetime.now(UTC)
        )
        note(session, "clarifications.add", slug, subject=topic)
    click.echo(f"Clarification {number} is added: every judge of topic {topic} will see it.", err=True)


@clarifications_group.command("remove")
@click.argument("slug")
@click.argument("number", type=click.IntRange(1, 999_999_999))
@on_installation
def remove_clarification(installation: Installation, slug: str, number: int) -> None:
    """Remove the clarification NUMBER; a public answer becomes private again."""
    with installation.database.transaction() as session:
        clarifications.remove(session, slug, number)
        note(session, "clarifications.remove", slug, subject=number)
    click.echo(f"Clarification {number} is removed.", err=True)
