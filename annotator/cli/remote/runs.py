"""`annotator --site URL runs`: check and send runs, list them, withdraw them."""

from collections.abc import Sequence
from typing import Any

import click

from annotator.cli.remote.site import Site, in_path, on_site
from annotator.cli.site.confirming import confirm, is_asked, yes_at_terminal
from annotator.cli.site.files import FILE, read_files, write_or_print
from annotator.cli.site.progress import watched
from annotator.cli.site.tables import JSON, TABLE, Row, Table, format_option, show_rows, show_table, show_tables
from annotator.errors import FileRefusedError, Problems

CHECKED = ("TAG", "TOPICS", "RETRIEVED", "WARNINGS", "FILE")
run_files = click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
tag_option = click.option("--tag-from-file", is_flag=True, help="Use the file name as the tag.")
replace_option = click.option("--replace", is_flag=True, help="Replace runs with the same tags; older files are kept.")


@click.group
def command() -> None:
    """Runs on a site: check, import, list, export, withdraw."""


@command.command("check")
@click.argument("slug")
@run_files
@tag_option
@replace_option
@format_option()
@on_site
def check(site: Site, slug: str, files: Sequence[str], *, tag_from_file: bool, replace: bool, format_: str) -> None:
    """List all errors and warnings about run files; the site stores nothing."""
    checked, problems = _checked(site, slug, files, tag_from_file=tag_from_file, replaces=replace)
    if format_ == JSON:
        warnings = [[name, warning] for name, one in checked for warning in one["warnings"]]
        wrong = [[one.file, one.line, str(one.sentence)] for one in problems.by_file()]
        show_tables(
            format_,
            Table("runs", CHECKED, _rows(checked)),
            Table("warnings", ["FILE", "WARNING"], warnings),
            Table("problems", ["FILE", "LINE", "PROBLEM"], wrong),
        )
    elif checked or format_ != TABLE:
        show_rows(format_, CHECKED, _rows(checked))
    _show_warnings(checked)
    problems.report_if_any()


@command.command("import")
@click.argument("slug")
@run_files
@tag_option
@replace_option
@click.option(
    "--team", metavar="TEAM", help="The team of the runs, for organisers; a participant's runs belong to their team."
)
@click.option("--description", metavar="TEXT", help="A description of the system.")
@click.option(
    "--type", "run_type", type=click.Choice(["automatic", "manual"]), help="Whether the runs are automatic or manual."
)
@click.option(
    "--priority",
    type=click.IntRange(1),
    metavar="N",
    help="The pooling priority among the runs of the team: 1 = pooled first.",
)
@on_site
def import_files(
    site: Site,
    slug: str,
    files: Sequence[str],
    *,
    tag_from_file: bool,
    replace: bool,
    team: str | None,
    description: str | None,
    run_type: str | None,
    priority: int | None,
) -> None:
    """Check all files, and if none has an error submit them, one after the other."""
    checked, problems = _checked(site, slug, files, tag_from_file=tag_from_file, replaces=replace)
    _show_warnings(checked)
    problems.refuse_if_any()
    receipts = [
        site.send(
            f"/collections/{slug}/runs",
            file,
            tag_from_file=tag_from_file,
            replaces=replace,
            team=team,
            description=description,
            type=run_type,
            priority=priority,
        )
        for file in read_files(files)
    ]
    show_table(
        ["TAG", "VERSION", "SENT", "SHA-256"],
        [[one["tag"], one["version"], one["uploaded_at"], one["checksum"]] for one in receipts],
    )
    click.echo(f"Runs imported: {len(receipts)}.", err=True)


@command.command("list")
@click.argument("slug")
@click.option("--all", "every", is_flag=True, help="Include withdrawn and replaced runs.")
@format_option()
@on_site
def show_all(site: Site, slug: str, format_: str, *, every: bool) -> None:
    """List the active runs that you may see."""
    rows = site.every(f"/collections/{slug}/runs", every=every)
    names = ("tag", "team", "topics", "retrieved", "version", "state", "type", "priority", "warnings", "uploaded_at")
    headings = [name.upper().replace("UPLOADED_AT", "SENT") for name in names]
    show_rows(
        format_,
        [*headings, "DESCRIPTION"],
        [[*(row[name] or None for name in names), row["description"]] for row in rows],
    )


@command.command("withdraw")
@click.argument("slug")
@click.argument("tag")
@yes_at_terminal
@on_site
def withdraw(site: Site, slug: str, tag: str, *, yes: bool) -> None:
    """Exclude a run from pooling and scoring; the documents it contributed stay in the pool.

    At a terminal it asks first.
    """
    if is_asked(yes=yes):
        run = site.get(f"/collections/{slug}/runs/{in_path(tag)}")
        confirm(
            f"This withdraws the run {tag}, version {run['version']}: {run['topics']} topics, {run['retrieved']} "
            "retrieved. It is neither pooled nor scored any more.",
            yes=False,
        )
    site.delete(f"/collections/{slug}/runs/{in_path(tag)}")
    click.echo(f"Withdrew the run {tag}.", err=True)


@command.command("export")
@click.argument("slug")
@click.argument("tag")
@click.option("--version", type=click.IntRange(1), metavar="N", help="The Nth file that was submitted. [the newest]")
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Write to this file instead of standard output.")
@on_site
def export(site: Site, slug: str, tag: str, version: int | None, output: str | None) -> None:
    """Write a run file, byte for byte as it was submitted."""
    write_or_print(output, site.content(f"/collections/{slug}/run-files/{in_path(tag)}", version=version))


def _checked(
    site: Site, slug: str, paths: Sequence[str], *, tag_from_file: bool, replaces: bool
) -> tuple[list[tuple[str, dict[str, Any]]], Problems]:
    """What every file would become, by its name, and what is wrong with any of them."""
    problems, checked = Problems(), []
    with watched(read_files(paths)) as files:
        for file in files:
            try:
                found = site.send(
                    f"/collections/{slug}/run-checks", file, tag_from_file=tag_from_file, replaces=replaces
                )
            except FileRefusedError as refusal:
                for one in refusal.problems:
                    problems.add_problem(one)
            else:
                checked.append((file.name, found))
    return checked, problems


def _rows(checked: Sequence[tuple[str, dict[str, Any]]]) -> list[Row]:
    return [[one["tag"], one["topics"], one["retrieved"], len(one["warnings"]), name] for name, one in checked]


def _show_warnings(checked: Sequence[tuple[str, dict[str, Any]]]) -> None:
    for name, one in checked:
        for warning in one["warnings"]:
            click.echo(f"{name}: warning: {warning}", err=True)
