"""`annotator runs`: what the systems found."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import click

from annotator.cli.argument_text import FILE
from annotator.cli.deeds import note, note_export
from annotator.cli.input_files import STANDARD_INPUT, read_file, read_files
from annotator.cli.installation import Installation, on_installation
from annotator.cli.output_files import write_or_print
from annotator.cli.progress import watched
from annotator.cli.tables import show_table
from annotator.settings import Settings
from annotator.storage import RunType
from annotator.workflows import runs, sent_files
from annotator.workflows.run_files import USUAL_MOST_DOCUMENTS, ReadRun, check_run_files
from annotator.workflows.runs import CheckedRun, RunDetails, Sender

run_files = click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
version_option = click.option("--version", type=click.IntRange(1), metavar="N", help="Not the newest file: the Nth.")
tag_option = click.option(
    "--tag-from-file", is_flag=True, help="Take the tag from the file's name, without .txt and .gz."
)
description_option = click.option("--description", metavar="TEXT", help="What the system does.")
type_option = click.option(
    "--type",
    "run_type",
    type=click.Choice([RunType.AUTOMATIC, RunType.MANUAL], case_sensitive=False),
    help="Whether a person had a hand in the answers.",
)
priority_option = click.option(
    "--priority", type=int, metavar="N", help="1 is to be pooled first among the team's runs. [1 unless given]"
)
round_option = click.option(
    "--round", "round_number", type=int, metavar="N", help="Which round's they are. [the one that is open]"
)


@click.group
def command() -> None:
    """Runs in TREC's six columns, plain or gzip: check, import, correct, withdraw, list, give back."""


@command.command("check")
@click.argument("words", nargs=-1, required=True, type=FILE, metavar="[SLUG] RUN...")
@click.option("--topics", type=FILE, metavar="FILE", help="Check against these topics; there is no SLUG then.")
@click.option(
    "--most-documents",
    type=click.IntRange(1),
    metavar="N",
    help=f"With --topics: warn of more documents for a topic. [{USUAL_MOST_DOCUMENTS} unless given]",
)
@tag_option
@click.pass_obj
def check(
    settings: Settings, words: Sequence[str], topics: str | None, most_documents: int | None, *, tag_from_file: bool
) -> None:
    """Say everything that is wrong or strange about files of runs, of each of them, and store nothing.

    Either for a collection, `check SLUG RUN...`, or before they are sent, with nothing but a file of topics and
    without any database: `check --topics FILE RUN...`.
    """
    if topics is not None:
        if STANDARD_INPUT in words and topics == STANDARD_INPUT:
            raise click.UsageError("Standard input (-) can be given once.")
        topic_file = read_file(topics)
        with watched(read_files(words)) as files:
            at_home = check_run_files(
                files,
                topic_file,
                most_documents=most_documents or USUAL_MOST_DOCUMENTS,
                tag_from_file=tag_from_file,
                unpacked_limit=settings.unpacked_limit,
            )
        _show_read(at_home.runs)
        at_home.problems.refuse_if_any()
        return
    if most_documents is not None:
        raise click.UsageError("A collection has its own --most-documents: give it with --topics alone.")
    slug, *paths = words
    if not paths:
        raise click.UsageError("Give the collection's SLUG and at least one RUN, or --topics FILE and a RUN.")
    _check_in_collection(slug, paths, tag_from_file=tag_from_file)


@on_installation
def _check_in_collection(installation: Installation, slug: str, paths: Sequence[str], *, tag_from_file: bool) -> None:
    sender = Sender(None, organises=True, replaces=True)
    with watched(read_files(paths)) as given, installation.database.reading() as session:
        checked = runs.check_each_run(
            session,
            slug,
            given,
            sender=sender,
            tag_from_file=tag_from_file,
            unpacked_limit=installation.settings.unpacked_limit,
        )
    _show_read(checked.runs)
    checked.problems.refuse_if_any()


@command.command("import")
@click.argument("slug")
@run_files
@tag_option
@click.option("--team", metavar="TEAM", help="Whose runs they are; made when it is new.")
@description_option
@type_option
@priority_option
@round_option
@click.option("--replace", is_flag=True, help="Correct runs of the same tags; the older files are kept.")
@on_installation
def import_files(
    installation: Installation,
    slug: str,
    files: Sequence[str],
    *,
    tag_from_file: bool,
    team: str | None,
    description: str | None,
    run_type: RunType | None,
    priority: int | None,
    round_number: int | None,
    replace: bool,
) -> None:
    """Import runs: all of the files, or none when there is anything wrong with one of them."""
    sender = Sender(team, organises=True, replaces=replace)
    with watched(read_files(files)) as given, installation.database.reading() as session:
        checked = runs.check_runs(
            session,
            slug,
            given,
            sender=sender,
            tag_from_file=tag_from_file,
            unpacked_limit=installation.settings.unpacked_limit,
        )
    with installation.database.transaction() as session:
        receipts = runs.store_runs(
            session,
            slug,
            checked,
            details=RunDetails(team, description, run_type, priority, round_number),
            uploaded_by_id=None,
            uploaded_at=datetime.now(UTC),
        )
        for receipt in receipts:
            note(session, "runs.import", slug, subject=receipt.tag, details={"sha256": receipt.checksum})
    _tell_warnings(checked)
    click.echo(f"Runs imported: {len(receipts)}.", err=True)


@command.command("list")
@click.argument("slug")
@click.option("--team", metavar="TEAM", help="Only the runs of this team.")
@click.option("--all", "every", is_flag=True, help="Also the runs that were withdrawn or replaced.")
@on_installation
def show_all(installation: Installation, slug: str, team: str | None, *, every: bool) -> None:
    """List the runs in force."""
    with installation.database.reading() as session:
        rows = runs.list_runs(session, slug, team=team, every=every)
    show_table(
        [
            *("TAG", "TEAM", "TOPICS", "RETRIEVED", "POOLED", "VERSION", "STATE", "TYPE", "PRIORITY", "WARNINGS"),
            *("SENT", "DESCRIPTION"),
        ],
        [
            [
                *(row.tag, row.team, row.topics, row.retrieved, row.pooled, row.version, row.state),
                *(row.run_type or None, row.priority, row.warnings, row.uploaded_at, row.description),
            ]
            for row in rows
        ],
    )


@command.command("show")
@click.argument("slug")
@click.argument("tag")
@version_option
@on_installation
def show(installation: Installation, slug: str, tag: str, version: int | None) -> None:
    """Show the receipt of a run and its warnings."""
    with installation.database.reading() as session:
        receipt = sent_files.receipt_of(session, slug, tag, version=version)
        view = sent_files.show_run(session, slug, tag, version=version)
    show_table(
        ["NAME", "VALUE"],
        [
            ["tag", receipt.tag],
            ["version", f"{receipt.version} of {len(view.versions)}"],
            ["state", receipt.state],
            ["team", receipt.team],
            ["type", receipt.run_type or None],
            ["priority", str(receipt.priority)],
            *([["round", str(receipt.round)]] if receipt.round is not None else []),
            ["description", receipt.description or None],
            ["file", receipt.file_name],
            ["bytes", str(receipt.bytes)],
            ["SHA-256", receipt.checksum],
            ["topics", str(receipt.topics)],
            ["retrieved", str(receipt.retrieved)],
            ["pooled", receipt.pooled],
            ["sent", receipt.uploaded_at],
            ["sent by", receipt.uploaded_by],
            ["withdrawn", receipt.withdrawn_at],
            ["withdrawn by", receipt.withdrawn_by],
            *(["warning", str(warning)] for warning in view.warnings),
        ],
    )


@command.command("change")
@click.argument("slug")
@click.argument("tag")
@click.option("--team", metavar="TEAM", help="Whose run it is; made when it is new.")
@description_option
@type_option
@priority_option
@round_option
@on_installation
def change(
    installation: Installation,
    slug: str,
    tag: str,
    team: str | None,
    description: str | None,
    run_type: RunType | None,
    priority: int | None,
    round_number: int | None,
) -> None:
    """Change what is given of what is said of a run, and leave the rest."""
    details = RunDetails(team, description, run_type, priority, round_number)
    if details == RunDetails():
        raise click.UsageError("Give at least one of --team, --description, --type, --priority, --round.")
    with installation.database.transaction() as session:
        runs.change_run(session, slug, tag, details=details)
        note(session, "runs.edit", slug, subject=tag, details=vars(details))
    click.echo(f"Changed the run {tag}.", err=True)


@command.command("withdraw")
@click.argument("slug")
@click.argument("tag")
@on_installation
def withdraw(installation: Installation, slug: str, tag: str) -> None:
    """Neither pool nor score a run any more; what it gave to the pool stays there."""
    with installation.database.transaction() as session:
        runs.withdraw_run(session, slug, tag, at=datetime.now(UTC))
        note(session, "runs.withdraw", slug, subject=tag)
    click.echo(f"Withdrew the run {tag}.", err=True)


@command.command("restore")
@click.argument("slug")
@click.argument("tag")
@on_installation
def restore(installation: Installation, slug: str, tag: str) -> None:
    """Let a withdrawn run count again."""
    with installation.database.transaction() as session:
        runs.restore_run(session, slug, tag)
        note(session, "runs.restore", slug, subject=tag)
    click.echo(f"Restored the run {tag}.", err=True)


@command.command("export")
@click.argument("slug")
@click.argument("tag")
@version_option
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Write to this file, not to standard output.")
@on_installation
def export(installation: Installation, slug: str, tag: str, version: int | None, output: str | None) -> None:
    """Give a run's file back, byte for byte as it was sent."""
    with installation.database.reading() as session:
        file = sent_files.original_file(session, slug, tag, version=version)
    note_export(installation, "runs.export", slug, subject=tag)
    write_or_print(output, file.content)


def _show_read(read: Sequence[CheckedRun | ReadRun]) -> None:
    if not read:
        return  # what is wrong with each of the files follows
    show_table(
        ["TAG", "TOPICS", "RETRIEVED", "WARNINGS", "FILE"],
        [
            [run.parsed.tag, len(run.parsed.topics), run.parsed.retrieved, len(run.warnings), run.file_name]
            for run in read
        ],
    )
    _tell_warnings(read)


def _tell_warnings(read: Iterable[CheckedRun | ReadRun]) -> None:
    for run in read:
        for warning in run.warnings:
            click.echo(f"{run.file_name}: warning: {warning}", err=True)
