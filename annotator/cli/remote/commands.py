"""`annotator --site URL documents|runs|leaderboard|qrels|collections`: uploads to a site and downloads from it."""

import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import click

from annotator.cli.leaderboard.score_formats import score_format_option
from annotator.cli.remote.comparison import compare
from annotator.cli.remote.docnos import ids_group
from annotator.cli.remote.publishing import publish
from annotator.cli.remote.shared_files import files
from annotator.cli.remote.site import on_site
from annotator.cli.runs.check_options import (
    docnos_option,
    files_after_slug,
    files_of_check,
    rules_option,
    run_task_option,
)
from annotator.cli.site.files import FILE, read_files, write_or_print
from annotator.cli.site.options import (
    AS_MINUS_ONE,
    answer_option,
    confirm,
    dry_run_option,
    is_asked,
    measures_option,
    query_of_scope,
    read_assignments,
    residual_option,
    round_option,
    show_outcome,
    sort_option,
    task_option,
    unjudged_option,
    yes_at_terminal,
)
from annotator.cli.site.progress import watched
from annotator.cli.site.tables import (
    JSON,
    TABLE,
    Row,
    Table,
    format_option,
    show_json,
    show_rows,
    show_table,
    show_tables,
)
from annotator.client import Site
from annotator.client.site import in_path
from annotator.errors import FileRefusedError, Problems
from annotator.evaluation.outputs.qrels_outputs import TREC
from annotator.evaluation.outputs.registry import WRITTEN_BY
from annotator.settings import Settings

# Headings of the list of runs, and what the API calls the columns.
LISTED = {
    **{name.upper(): name for name in ("tag", "team", "topics", "retrieved", "version", "state", "type", "priority")},
    "WARNINGS": "warning_count",
    "SENT": "uploaded_at",
}
CHECKED = ("TAG", "TOPICS", "RETRIEVED", "WARNINGS", "FILE")
run_files = click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
tag_option = click.option("--tag-from-file", is_flag=True, help="Use the file name as the tag.")
replace_option = click.option("--replace", is_flag=True, help="Replace runs with the same tags; older files are kept.")


@click.group
def runs() -> None:
    """Runs on a site: check, import, list, export, compare, withdraw."""


runs.add_command(compare)


@runs.command("check")
@click.argument("slug")
@files_after_slug
@tag_option
@replace_option
@rules_option
@docnos_option
@run_task_option
@format_option()
@click.pass_obj
def check_runs(
    settings: Settings,
    slug: str,
    files: Sequence[str],
    rules_source: str | None,
    docnos_file: str | None,
    task: str | None,
    *,
    tag_from_file: bool,
    replace: bool,
    format_: str,
) -> None:
    """List all errors and warnings about run files; the site stores nothing.

    With --rules there is no SLUG, and no file is sent: the rules count, and the check is made here.
    """
    given = files_of_check(slug, files, rules_source)
    if rules_source is None:
        if docnos_file is not None:
            raise click.UsageError("--docnos needs --rules: the site compares docnos with those that it knows.")
        check_on_site(slug, given, task=task, tag_from_file=tag_from_file, replace=replace, format_=format_)
    else:
        # It reads runs itself, which other commands on a site leave to the site: so they need no NumPy.
        import_module("annotator.cli.runs.runs").check_elsewhere(
            settings,
            rules_source,
            given,
            None,
            docnos_file,
            format_,
            task=task,
            tag_from_file=tag_from_file,
            replace=replace,
        )


@on_site
def check_on_site(
    site: Site,
    slug: str,
    files: Sequence[str],
    *,
    task: str | None,
    tag_from_file: bool,
    replace: bool,
    format_: str,
) -> None:
    """Check files on the site."""
    checked, problems = _checked(site, slug, files, task=task, tag_from_file=tag_from_file, replaces=replace)
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


@runs.command("import")
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
@run_task_option
@answer_option
@on_site
def import_runs(
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
    task: str | None,
    answers: Sequence[str],
) -> None:
    """Check all files, and if none has an error submit them, one after the other."""
    answered = read_assignments(answers)
    checked, problems = _checked(site, slug, files, task=task, tag_from_file=tag_from_file, replaces=replace)
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
            task=task,
            answers=json.dumps(answered, ensure_ascii=False) if answered else None,
        )
        for file in read_files(files)
    ]
    show_table(
        ["TAG", "VERSION", "SENT", "SHA-256"],
        [[one["tag"], one["version"], one["uploaded_at"], one["checksum"]] for one in receipts],
    )
    click.echo(f"Runs imported: {len(receipts)}.", err=True)


@runs.command("list")
@click.argument("slug")
@click.option("--all", "every", is_flag=True, help="Include withdrawn and replaced runs.")
@format_option()
@on_site
def list_runs(site: Site, slug: str, format_: str, *, every: bool) -> None:
    """List the active runs that you may see."""
    rows = site.every(f"/collections/{slug}/runs", every=every)
    listed = {**LISTED, "TASK": "task"} if any("task" in row for row in rows) else LISTED
    show_rows(
        format_,
        [*listed, "DESCRIPTION"],
        [[*(row.get(name) or None for name in listed.values()), row["description"]] for row in rows],
    )


@runs.command("withdraw")
@click.argument("slug")
@click.argument("tag")
@yes_at_terminal
@on_site
def withdraw_run(site: Site, slug: str, tag: str, *, yes: bool) -> None:
    """Exclude a run from pooling and scoring; the documents it contributed stay in the pool.

    At a terminal it asks first.
    """
    if is_asked(yes=yes):
        run = site.get(f"/collections/{slug}/runs/{in_path(tag)}")
        confirm(
            f"This withdraws the run {tag}, version {run['version']}: {run['topics']} topics, {run['retrieved']} "
            f"retrieved. It is neither pooled nor scored any more.{_for_good(run)}",
            yes=False,
        )
    withdrawn = site.delete(f"/collections/{slug}/runs/{in_path(tag)}")
    click.echo(f"Withdrew the run {tag}.{_for_good(withdrawn)}", err=True)


def _for_good(run: Mapping[str, Any]) -> str:
    return " Its round is closed: only organisers can restore it." if run.get("in_closed_round") else ""


@runs.command("export")
@click.argument("slug")
@click.argument("tag")
@click.option("--version", type=click.IntRange(1), metavar="N", help="The Nth file that was submitted. [the newest]")
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Write to this file instead of standard output.")
@on_site
def export_run(site: Site, slug: str, tag: str, version: int | None, output: str | None) -> None:
    """Write a run file, byte for byte as it was submitted."""
    write_or_print(output, site.content(f"/collections/{slug}/runs/{in_path(tag)}/file", version=version))


def _checked(
    site: Site, slug: str, paths: Sequence[str], *, task: str | None, tag_from_file: bool, replaces: bool
) -> tuple[list[tuple[str, dict[str, Any]]], Problems]:
    """The checked run of each file, by file name, and the problems of all files."""
    problems, checked = Problems(), []
    with watched(read_files(paths)) as files:
        for file in files:
            try:
                found = site.send(
                    f"/collections/{slug}/runs/check",
                    file,
                    task=task,
                    tag_from_file=tag_from_file,
                    replaces=replaces,
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


COUNTS = ("added", "filled", "changed", "unchanged")


@click.group
def documents() -> None:
    """Documents on a site: import texts, and the list of valid docnos."""


documents.add_command(ids_group)


@documents.command("import")
@click.argument("slug")
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@click.option(
    "--field", "fields", multiple=True, metavar="OURS=THEIRS", help="A key of the JSONL, such as body=text; repeatable."
)
@dry_run_option
@on_site
def import_documents(site: Site, slug: str, files: Sequence[str], fields: Sequence[str], *, dry_run: bool) -> None:
    """Import documents, one file after the other: JSONL, TREC SGML or DOCNO<TAB>TITLE<TAB>BODY, plain or gzip.

    The site's worker reads large files; the command waits for it. Sending a file again changes nothing.
    """
    done = dict.fromkeys(COUNTS, 0)
    for file in read_files(files):
        stored = site.send(f"/collections/{slug}/documents", file, fields=" ".join(fields), dry_run=dry_run)
        done = {name: count + stored[name] for name, count in done.items()}
    counts = (
        f"Documents: {done['added']} added, {done['filled']} given their text, {done['changed']} changed, "
        f"{done['unchanged']} unchanged."
    )
    show_outcome(counts, dry_run=dry_run)


@click.group
def leaderboard() -> None:
    """Scores on a site: of all runs, or of your team's runs."""


@leaderboard.command("show")
@click.argument("slug")
@measures_option
@sort_option
@click.option("--own", is_flag=True, help="Only your team's runs.")
@click.option(
    "--beside",
    is_flag=True,
    help="With --own: CSV of each run, measure and topic, with the worst, the median and the best of all runs.",
)
@round_option
@residual_option
@task_option
@score_format_option
@on_site
def show_leaderboard(
    site: Site,
    slug: str,
    measures: Sequence[str],
    sort: str | None,
    round_number: int | None,
    task: str | None,
    format_: str,
    *,
    residual: bool | None,
    own: bool,
    beside: bool,
) -> None:
    """Show the scores of all runs, best first; to participants once they are released."""
    if own and sort:
        raise click.UsageError("--own goes without --sort.")
    if beside and not own:
        raise click.UsageError("--beside goes with --own.")
    path = "scores" if own else "leaderboard"
    asked = {"m": list(measures), **query_of_scope(round_number, task, residual=residual)}
    if beside:
        write_or_print(None, site.content(f"/collections/{slug}/scores", format="beside-csv", **asked))
        return
    _show_answer(site, f"/collections/{slug}/{path}", format_, sort=sort, **asked)


@click.group
def qrels() -> None:
    """Qrels on a site."""


@qrels.command("export")
@click.argument("slug")
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Write to this file instead of standard output.")
@click.option("--version", type=click.IntRange(1), metavar="N", help="A kept version, as trec byte for byte.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(list(WRITTEN_BY["qrels export"])),
    default=TREC,
    show_default=True,
    help="The columns of trec_eval, the layout of another tool, or a stratified sample: prels or infap.",
)
@unjudged_option
@on_site
def export_qrels(site: Site, slug: str, output: str | None, version: int | None, format_: str, unjudged: str) -> None:
    """Export qrels of the judged documents."""
    with_unjudged = unjudged == AS_MINUS_ONE
    path = f"/collections/{slug}/qrels"
    write_or_print(output, site.content(path, version=version, unjudged=with_unjudged, format=format_))


@click.group
def collections() -> None:
    """Collections on a site: list them, load their files, publish a kit."""


collections.add_command(publish)
collections.add_command(files)


@collections.command("list")
@format_option()
@on_site
def list_collections(site: Site, format_: str) -> None:
    """List your collections, with your roles."""
    rows = site.every("/collections")
    show_rows(
        format_,
        ["SLUG", "STATE", "ROLES", "TITLE"],
        [[row["slug"], "closed" if row["closed"] else "open", " ".join(row["roles"]), row["title"]] for row in rows],
    )


def _show_answer(site: Site, path: str, format_: str, **query: object) -> None:
    if format_ not in {JSON, TABLE}:
        click.echo(site.content(path, format=format_, **query), nl=False)
        return
    board = site.get(path, **query)
    if format_ == JSON:
        show_json(board)
        return
    show_table(
        ["RUN", "TEAM", *board["measures"]],
        [[row["tag"], row["team"], *(row["values"][name] for name in board["measures"])] for row in board["rows"]],
    )
    click.echo(f"\nQrels: {board['source']}, {board['grades']} grades, fingerprint {board['fingerprint']}.".encode())
