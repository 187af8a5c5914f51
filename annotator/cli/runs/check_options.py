"""Options of `runs check`, here and on a site; without heavy imports, as commands on a site have none."""

from collections.abc import Sequence
from typing import TypedDict

import click

from annotator.cli.site.files import FILE

rules_option = click.option(
    "--rules",
    "rules_source",
    metavar="RULES",
    help="Check by these rules, without a database and without SLUG: a file from the page of the runs, or its address "
    "https://…/api/v1/collections/SLUG/run-rules, with --token.",
)

run_task_option = click.option("--task", metavar="KEY", help="The task of the runs, where the collection has tasks.")
docnos_option = click.option(
    "--docnos",
    "docnos_file",
    type=FILE,
    metavar="FILE",
    help="The valid docnos, one a line or in documents of any format; others in the runs get a warning.",
)
files_after_slug = click.argument("files", nargs=-1, type=FILE, metavar="FILE...")


class CheckOptions(TypedDict):
    """The other options of a check."""

    input_format: str | None
    docnos_file: str | None
    format_: str
    task: str | None
    tag_from_file: bool


def files_of_check(slug: str, files: Sequence[str], rules_source: str | None) -> Sequence[str]:
    """The files of a check: with rules also the first argument, which is no slug then."""
    if rules_source is not None:
        return (slug, *files)
    if not files:
        raise click.UsageError("Missing argument 'FILE...'.")
    return files
