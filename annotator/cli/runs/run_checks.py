"""`annotator check`: files of runs against a file of topics; and how the result of a check is shown."""

from collections.abc import Iterable, Mapping, Sequence

import click

from annotator.cli.site.argument_text import FILE
from annotator.cli.site.formats import JSON, TABLE, Table, format_option, show_rows, show_tables
from annotator.cli.site.input_files import STANDARD_INPUT, read_file, read_files
from annotator.cli.site.progress import watched
from annotator.cli.site.tables import Row
from annotator.errors import Problems
from annotator.settings import Settings
from annotator.workflows.runs.run_files import USUAL_MOST_DOCUMENTS, ReadRun, check_run_files
from annotator.workflows.runs.runs import CheckedRun, Receipt

HEADINGS = ("TAG", "TOPICS", "RETRIEVED", "WARNINGS", "FILE")
tag_option = click.option(
    "--tag-from-file", is_flag=True, help="Take the tag from the file's name, without .txt and .gz."
)


@click.command
@click.argument("topics", type=FILE)
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="RUN...")
@click.option(
    "--most-documents",
    type=click.IntRange(1),
    default=USUAL_MOST_DOCUMENTS,
    show_default=True,
    metavar="N",
    help="Warn of more documents for a topic.",
)
@tag_option
@format_option()
@click.pass_obj
def command(
    settings: Settings, topics: str, files: Sequence[str], most_documents: int, format_: str, *, tag_from_file: bool
) -> None:
    """List everything that is wrong or strange about files of runs, by a file of topics; no database is needed."""
    if STANDARD_INPUT in files and topics == STANDARD_INPUT:
        raise click.UsageError("Standard input (-) can be given once.")
    topic_file = read_file(topics)
    with watched(read_files(files)) as given:
        checked = check_run_files(
            given,
            topic_file,
            most_documents=most_documents,
            tag_from_file=tag_from_file,
            unpacked_limit=settings.unpacked_limit,
        )
    show_checked_runs(format_, checked.runs, checked.problems)


def show_checked_runs(format_: str, checked: Sequence[CheckedRun | ReadRun], problems: Problems) -> None:
    """Show what every file is, then refuse with what is wrong; csv has the files alone, json the rest as well."""
    rows: list[Row] = [
        [run.parsed.tag, len(run.parsed.topics), run.parsed.retrieved, len(run.warnings), run.file_name]
        for run in checked
    ]
    if format_ == JSON:
        warnings = [[run.file_name, str(warning)] for run in checked for warning in run.warnings]
        wrong = [[one.file, one.line, str(one.sentence)] for one in problems.by_file()]
        show_tables(
            format_,
            Table("runs", HEADINGS, rows),
            Table("warnings", ["FILE", "WARNING"], warnings),
            Table("problems", ["FILE", "LINE", "PROBLEM"], wrong),
        )
    elif rows or format_ != TABLE:
        show_rows(format_, HEADINGS, rows)
    show_warnings(checked)
    problems.report_if_any()


def show_warnings(checked: Iterable[CheckedRun | ReadRun]) -> None:
    """Put the warnings on standard error, a line each."""
    for run in checked:
        for warning in run.warnings:
            click.echo(f"{run.file_name}: warning: {warning}", err=True)


def show_copies(receipts: Iterable[Receipt], same: Mapping[int, Sequence[str]]) -> None:
    """Warn of stored runs whose ranking, by run id, other runs have as well."""
    for receipt in receipts:
        if receipt.id in same:
            click.echo(f"warning: {receipt.tag} has the same ranking as {', '.join(same[receipt.id])}.", err=True)
