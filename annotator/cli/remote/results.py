"""`annotator --site URL leaderboard|qrels|collections`: what a site gives out."""

from collections.abc import Sequence

import click

from annotator.cli.remote.site import Site, on_site
from annotator.cli.site.files import FILE, write_or_print
from annotator.cli.site.options import (
    AS_MINUS_ONE,
    is_residual,
    measures_option,
    residual_option,
    round_option,
    sort_option,
    unjudged_option,
)
from annotator.cli.site.tables import format_option, show_json, show_rows, show_table


@click.group
def leaderboard() -> None:
    """Scores on a site: of all runs, or of your team's runs."""


@leaderboard.command("show")
@click.argument("slug")
@measures_option
@sort_option
@click.option("--own", is_flag=True, help="Only your team's runs, by the default measures.")
@round_option
@residual_option
@format_option()
@on_site
def show(
    site: Site,
    slug: str,
    measures: Sequence[str],
    sort: str | None,
    round_number: int | None,
    format_: str,
    *,
    residual: bool | None,
    own: bool,
) -> None:
    """Show the scores of all runs, best first; to participants once they are released."""
    if own and (measures or sort):
        raise click.UsageError("--own goes without --measure and --sort.")
    path = "scores" if own else "leaderboard"
    of_round: dict[str, object] = {}
    if is_residual(round_number, residual=residual) or round_number is not None:
        of_round = {"round": round_number, "residual": residual is not False}
    _show(site, f"/collections/{slug}/{path}", format_, m=list(measures), sort=sort, **of_round)


@click.group
def qrels() -> None:
    """Qrels on a site."""


@qrels.command("export")
@click.argument("slug")
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Write to this file instead of standard output.")
@click.option("--version", type=click.IntRange(1), metavar="N", help="A kept version, byte for byte.")
@unjudged_option
@on_site
def export(site: Site, slug: str, output: str | None, version: int | None, unjudged: str) -> None:
    """Export TREC qrels of the judged documents."""
    write_or_print(
        output, site.content(f"/collections/{slug}/qrels", version=version, unjudged=unjudged == AS_MINUS_ONE)
    )


@click.group
def collections() -> None:
    """Collections on a site."""


@collections.command("list")
@format_option()
@on_site
def show_all(site: Site, format_: str) -> None:
    """List your collections, with your roles."""
    rows = site.every("/collections")
    show_rows(
        format_,
        ["SLUG", "STATE", "ROLES", "TITLE"],
        [[row["slug"], "closed" if row["closed"] else "open", " ".join(row["roles"]), row["title"]] for row in rows],
    )


def _show(site: Site, path: str, format_: str, **query: object) -> None:
    if format_ == "csv":
        click.echo(site.content(path, format="csv", **query), nl=False)
        return
    board = site.get(path, **query)
    if format_ == "json":
        show_json(board)
        return
    show_table(
        ["RUN", "TEAM", *board["measures"]],
        [[row["tag"], row["team"], *(row["values"][name] for name in board["measures"])] for row in board["rows"]],
    )
    click.echo(f"\nQrels: {board['source']}, {board['grades']} grades, fingerprint {board['fingerprint']}.".encode())
