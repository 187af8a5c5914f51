"""`annotator runs`: check, submit, list and download runs."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Unpack

import click

from annotator.cli.runs.check_options import (
    CheckOptions,
    docnos_option,
    files_after_slug,
    files_of_check,
    rules_option,
    run_task_option,
)
from annotator.cli.runs.run_comparison import compare
from annotator.cli.runs.run_fetching import fetch
from annotator.cli.runs.run_rules import rules_at, warn_about_docnos
from annotator.cli.runs.run_sources import sources_group
from annotator.cli.site.files import FILE, STANDARD_INPUT, read_file, write_or_print
from annotator.cli.site.input_files import given_files, input_format_option
from annotator.cli.site.installation import Installation, actor, note, note_export, on_installation
from annotator.cli.site.options import (
    answer_option,
    confirm,
    dry_run_option,
    is_asked,
    read_assignments,
    show_outcome,
    yes_at_terminal,
)
from annotator.cli.site.progress import watched
from annotator.cli.site.tables import JSON, TABLE, Row, Table, format_option, show_rows, show_tables, show_values
from annotator.errors import Problems
from annotator.evaluation.formats.input_formats import Holds
from annotator.evaluation.runs.docno_lists import ReadDocnos
from annotator.evaluation.runs.run_intake import ReadRun
from annotator.evaluation.runs.run_tags import Sender
from annotator.settings import Settings
from annotator.storage import RunType
from annotator.storage.runs.runs import RunDetails
from annotator.storage.runs.sent_runs import Receipt
from annotator.storage.tables.collections import USUAL_MOST_DOCUMENTS
from annotator.workflows.documents import docno_lists
from annotator.workflows.pools import pools
from annotator.workflows.runs import run_upload, runs, tasks
from annotator.workflows.runs.file_checks import check_by_rules, check_run_files
from annotator.workflows.runs.run_upload import CheckedRun, Submission, Upload

CHECK_HEADINGS = ("TAG", "TOPICS", "RETRIEVED", "WARNINGS", "FILE")

tag_option = click.option("--tag-from-file", is_flag=True, help="Use the file name without .txt and .gz as the tag.")


run_files = click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
version_option = click.option(
    "--version", type=click.IntRange(1), metavar="N", help="The Nth file that was submitted. [the newest]"
)
description_option = click.option("--description", metavar="TEXT", help="A description of the system.")
type_option = click.option(
    "--type",
    "run_type",
    type=click.Choice([RunType.AUTOMATIC, RunType.MANUAL], case_sensitive=False),
    help="Whether the runs are automatic or manual.",
)
priority_option = click.option(
    "--priority", type=int, metavar="N", help="The pooling priority among the runs of the team: 1 = pooled first. [1]"
)
round_option = click.option(
    "--round", "round_number", type=int, metavar="N", help="The round of the runs. [the open one]"
)


@click.group
def command() -> None:
    """Runs: check, submit, list and download them, in TREC's six columns or in other formats."""


command.add_command(compare)
command.add_command(fetch)
command.add_command(sources_group)


@command.command("check")
@click.argument("slug")
@files_after_slug
@tag_option
@input_format_option(Holds.RUNS)
@docnos_option
@rules_option
@run_task_option
@format_option()
@click.pass_obj
def check(
    settings: Settings, slug: str, files: Sequence[str], rules_source: str | None, **options: Unpack[CheckOptions]
) -> None:
    """List all errors and warnings about run files, and store nothing.

    Docnos are compared with those of --docnos, or with the list of the collection (`documents ids`), if it has one.
    With --rules there is no SLUG: the rules of a collection elsewhere count. `annotator check` does this by a file of
    topics.
    """
    if rules_source is None:
        check_here(slug, files_of_check(slug, files, rules_source), **options)
    else:
        check_elsewhere(settings, rules_source, files_of_check(slug, files, rules_source), **options)


def check_elsewhere(
    settings: Settings,
    rules_source: str,
    files: Sequence[str],
    input_format: str | None,
    docnos_file: str | None,
    format_: str,
    *,
    task: str | None,
    tag_from_file: bool,
    replace: bool = True,
) -> None:
    """Check files by the rules of a collection that are in a file or on a site."""
    limit = settings.unpacked_limit
    _refuse_twice_from_input([rules_source, *files])
    docnos = _docnos_of(docnos_file, [rules_source, *files], unpacked_limit=limit)
    rules = rules_at(rules_source)
    with watched(given_files(files, Holds.RUNS, input_format=input_format)) as given:
        checked = check_by_rules(
            given, rules, task=task, replaces=replace, tag_from_file=tag_from_file, unpacked_limit=limit, docnos=docnos
        )
    warn_about_docnos(rules, docnos)
    show_checked_runs(format_, checked.runs, checked.problems)


@on_installation
def check_here(
    installation: Installation,
    slug: str,
    files: Sequence[str],
    input_format: str | None,
    docnos_file: str | None,
    format_: str,
    *,
    task: str | None,
    tag_from_file: bool,
) -> None:
    """Check files against a collection of the database."""
    sender = Sender(None, organises=True, replaces=True)
    limit = installation.settings.unpacked_limit
    docnos = _docnos_of(docnos_file, files, unpacked_limit=limit)
    with (
        watched(given_files(files, Holds.RUNS, input_format=input_format)) as given,
        installation.database.reading() as session,
    ):
        checked = run_upload.check_each_run(
            session,
            slug,
            given,
            sender=sender,
            tag_from_file=tag_from_file,
            unpacked_limit=limit,
            shared=RunDetails(task=task),
            docnos=docnos,
        )
    show_checked_runs(format_, checked.runs, checked.problems)


@command.command("import")
@click.argument("slug")
@run_files
@tag_option
@input_format_option(Holds.RUNS)
@click.option("--team", metavar="TEAM", help="The team of the runs; created if it is new.")
@description_option
@type_option
@priority_option
@round_option
@run_task_option
@answer_option
@click.option("--replace", is_flag=True, help="Replace runs with the same tags; the older files are kept.")
@dry_run_option
@on_installation
def import_files(
    installation: Installation,
    slug: str,
    files: Sequence[str],
    *,
    tag_from_file: bool,
    input_format: str | None,
    team: str | None,
    description: str | None,
    run_type: RunType | None,
    priority: int | None,
    round_number: int | None,
    task: str | None,
    answers: Sequence[str],
    replace: bool,
    dry_run: bool,
) -> None:
    """Import runs: all of the files, or none if any of them has an error.

    Zip archives are opened. A CSV file with the columns file or tag, team, task, type, priority and description gives
    the metadata of each run.
    """
    submission = Submission(
        Sender(team, organises=True, replaces=replace),
        RunDetails(team, description, run_type, priority, round_number, task),
        tag_from_file=tag_from_file,
        answers=read_assignments(answers),
        asked_task=task,
    )
    with watched(given_files(files, Holds.RUNS, input_format=input_format)) as given:
        now = datetime.now(UTC)
        done = run_upload.upload(
            installation.database,
            slug,
            given,
            submission,
            actor=actor(),
            at=now,
            noted_at=now,
            unpacked_limit=installation.settings.unpacked_limit,
            compares=True,
            keep=not dry_run,
        )
    _show_import(done, dry_run=dry_run)


def _show_import(done: Upload, *, dry_run: bool) -> None:
    show_warnings(done.runs)
    show_copies(done.receipts, done.same)
    show_outcome(f"Runs imported: {len(done.receipts)}.", dry_run=dry_run)


@command.command("list")
@click.argument("slug")
@click.option("--team", metavar="TEAM", help="Only the runs of this team.")
@click.option("--all", "every", is_flag=True, help="Include withdrawn and replaced runs.")
@format_option()
@on_installation
def show_all(installation: Installation, slug: str, team: str | None, format_: str, *, every: bool) -> None:
    """List the active runs."""
    with installation.database.reading() as session:
        rows = runs.list_runs(session, slug, team=team, every=every)
        same = runs.rankings_sent_twice(session, slug)
    has_tasks = any(row.task for row in rows)
    show_rows(
        format_,
        [
            *("TAG", "TEAM", *(["TASK"] if has_tasks else []), "TOPICS", "RETRIEVED", "POOLED", "VERSION", "STATE"),
            *("TYPE", "PRIORITY", "WARNINGS", "SENT", "SAME RANKING AS", "DESCRIPTION"),
        ],
        [
            [
                *(row.tag, row.team, *([row.task] if has_tasks else []), row.topics, row.retrieved, row.pooled),
                *(row.version, row.state),
                *(row.run_type or None, row.priority, row.warnings, row.uploaded_at),
                *(", ".join(same.get(row.id, ())) or None, row.description),
            ]
            for row in rows
        ],
    )


@command.command("show")
@click.argument("slug")
@click.argument("tag")
@version_option
@format_option()
@on_installation
def show(installation: Installation, slug: str, tag: str, version: int | None, format_: str) -> None:
    """Show the receipt of a run and its warnings."""
    with installation.database.reading() as session:
        receipt = runs.receipt_of(session, slug, tag, version=version)
        view = runs.show_run(session, slug, tag, version=version)
        same = runs.rankings_sent_twice(session, slug)
    show_values(
        format_,
        ("NAME", "VALUE"),
        {
            "tag": receipt.tag,
            "version": f"{receipt.version} of {len(view.versions)}",
            "state": receipt.state,
            "team": receipt.team,
            "type": receipt.run_type or None,
            "priority": receipt.priority,
            **({} if receipt.round is None else {"round": receipt.round}),
            **({} if receipt.task is None else {"task": receipt.task}),
            "description": receipt.description or None,
            "file": receipt.file_name,
            "bytes": receipt.bytes,
            "SHA-256": receipt.checksum,
            "topics": receipt.topics,
            "retrieved": receipt.retrieved,
            "pooled": receipt.pooled,
            "sent": receipt.uploaded_at,
            "sent by": receipt.uploaded_by,
            "withdrawn": receipt.withdrawn_at,
            "withdrawn by": receipt.withdrawn_by,
            "warnings": [str(warning) for warning in view.warnings],
            "same ranking as": list(same.get(view.row.id, ())),
        },
    )


@command.command("set")
@click.argument("slug")
@click.argument("tag")
@click.option("--team", metavar="TEAM", help="The team of the run; created if it is new.")
@description_option
@type_option
@priority_option
@round_option
@run_task_option
@yes_at_terminal
@on_installation
def change(
    installation: Installation,
    slug: str,
    tag: str,
    *,
    team: str | None,
    description: str | None,
    run_type: RunType | None,
    priority: int | None,
    round_number: int | None,
    task: str | None,
    yes: bool,
) -> None:
    """Change the given details of a run, and keep the others.

    Another task changes scores that are released: at a terminal it asks first.
    """
    details = RunDetails(team, description, run_type, priority, round_number, task)
    if details == RunDetails():
        raise click.UsageError("Give at least one of --team, --description, --type, --priority, --round, --task.")
    if task is not None and _changes_scores(installation, slug, tag, task):
        effect = "Scores are released. They change at once: the run is scored among those of the task."
        confirm(effect, yes=not is_asked(yes=yes))
    with installation.database.transaction() as session:
        runs.change_run(session, slug, tag, details=details, at=datetime.now(UTC))
        note(session, "runs.edit", slug, subject=tag, details=vars(details))
    click.echo(f"Changed the run {tag}.", err=True)


def _changes_scores(installation: Installation, slug: str, tag: str, task: str) -> bool:
    """Whether another task for the run changes scores that are released."""
    with installation.database.reading() as session:
        present = runs.show_run(session, slug, tag).row.task
        return present != task and tasks.are_scores_released(session, slug)


@command.command("withdraw")
@click.argument("slug")
@click.argument("tag")
@yes_at_terminal
@on_installation
def withdraw(installation: Installation, slug: str, tag: str, *, yes: bool) -> None:
    """Exclude a run from pooling and scoring; the documents it contributed stay in the pool.

    At a terminal it first shows how many documents the run contributed to the pool, and asks whether to go on.
    """
    if is_asked(yes=yes):
        confirm(_effect(installation, slug, tag), yes=False)
    with installation.database.transaction() as session:
        runs.withdraw_run(session, slug, tag, at=datetime.now(UTC))
        note(session, "runs.withdraw", slug, subject=tag)
    click.echo(f"Withdrew the run {tag}.", err=True)


def _effect(installation: Installation, slug: str, tag: str) -> str:
    with installation.database.transaction(keep=False) as session:
        runs.withdraw_run(session, slug, tag, at=datetime.now(UTC))
    with installation.database.reading() as session:
        given = next((run for run in pools.runs_in_pool(session, slug) if run.is_latest and run.tag == tag), None)
    return (
        f"This withdraws the run {tag}. Documents that it gave to the pool: {given.items if given else 0}, from it "
        f"alone: {given.only if given else 0}; they stay there. `runs restore {slug} {tag}` lets it count again."
    )


@command.command("restore")
@click.argument("slug")
@click.argument("tag")
@on_installation
def restore(installation: Installation, slug: str, tag: str) -> None:
    """Make a withdrawn run active again."""
    with installation.database.transaction() as session:
        runs.restore_run(session, slug, tag, at=datetime.now(UTC))
        note(session, "runs.restore", slug, subject=tag)
    click.echo(f"Restored the run {tag}.", err=True)


@command.command("export")
@click.argument("slug")
@click.argument("tag")
@version_option
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Write to this file instead of standard output.")
@on_installation
def export(installation: Installation, slug: str, tag: str, version: int | None, output: str | None) -> None:
    """Write a run file, byte for byte as it was submitted."""
    file = installation.database.read(runs.original_file, slug, tag, version=version)
    note_export(installation, "runs.export", slug, subject=tag)
    write_or_print(output, file.content)


@click.command("check")
@click.argument("topics", type=FILE)
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="RUN...")
@click.option(
    "--most-documents",
    type=click.IntRange(1),
    default=USUAL_MOST_DOCUMENTS,
    show_default=True,
    metavar="N",
    help="The maximum of documents per topic; a run with more gets a warning.",
)
@tag_option
@input_format_option(Holds.RUNS)
@docnos_option
@format_option()
@click.pass_obj
def check_files(
    settings: Settings,
    topics: str,
    files: Sequence[str],
    most_documents: int,
    input_format: str | None,
    docnos_file: str | None,
    format_: str,
    *,
    tag_from_file: bool,
) -> None:
    """List all errors and warnings about run files, by a file of topics; no database is needed."""
    docnos = _docnos_of(docnos_file, [topics, *files], unpacked_limit=settings.unpacked_limit)
    _refuse_twice_from_input([topics, *files])
    topic_file = read_file(topics)
    with watched(given_files(files, Holds.RUNS, input_format=input_format)) as given:
        checked = check_run_files(
            given,
            topic_file,
            most_documents=most_documents,
            tag_from_file=tag_from_file,
            unpacked_limit=settings.unpacked_limit,
            docnos=docnos,
        )
    show_checked_runs(format_, checked.runs, checked.problems)


def _docnos_of(file: str | None, others: Sequence[str], *, unpacked_limit: int) -> ReadDocnos | None:
    """The valid docnos in a file; standard input may be given once, here or among the other files."""
    if file is None:
        return None
    _refuse_twice_from_input([file, *others])
    return docno_lists.read_docnos(given_files([file], Holds.DOCNOS), unpacked_limit=unpacked_limit)


def _refuse_twice_from_input(files: Sequence[str]) -> None:
    if files.count(STANDARD_INPUT) > 1:
        raise click.UsageError("Standard input (-) can be given once.")


def show_checked_runs(format_: str, checked: Sequence[CheckedRun | ReadRun], problems: Problems) -> None:
    """Show the content of every file, then raise its problems; csv has the files alone, json everything."""
    rows: list[Row] = [
        [run.parsed.tag, len(run.parsed.topics), run.parsed.retrieved, len(run.warnings), run.file_name]
        for run in checked
    ]
    if format_ == JSON:
        warnings = [[run.file_name, str(warning)] for run in checked for warning in run.warnings]
        wrong = [[one.file, one.line, str(one.sentence)] for one in problems.by_file()]
        show_tables(
            format_,
            Table("runs", CHECK_HEADINGS, rows),
            Table("warnings", ["FILE", "WARNING"], warnings),
            Table("problems", ["FILE", "LINE", "PROBLEM"], wrong),
        )
    elif rows or format_ != TABLE:
        show_rows(format_, CHECK_HEADINGS, rows)
    show_warnings(checked)
    problems.report_if_any()


def show_warnings(checked: Iterable[CheckedRun | ReadRun]) -> None:
    """Print warnings on standard error, one per line."""
    for run in checked:
        for warning in run.warnings:
            click.echo(f"{run.file_name}: warning: {warning}", err=True)


def show_copies(receipts: Iterable[Receipt], same: Mapping[int, Sequence[str]]) -> None:
    """Warn of stored runs whose ranking equals that of other runs (`same`, by run id)."""
    for receipt in receipts:
        if receipt.id in same:
            click.echo(f"warning: {receipt.tag} has the same ranking as {', '.join(same[receipt.id])}.", err=True)
