"""`annotator --site URL leaderboard|qrels|collections`: what a site gives out."""

from collections.abc import Sequence

import click

from annotator.cli.argument_text import FILE
from annotator.cli.output_files import write_or_print
from annotator.cli.remote.site import Site, on_site
from annotator.cli.tables import show_json, show_table

format_option = click.option("--format", "format_", default="table", type=click.Choice(["table", "csv", "json"]))


@click.group
def leaderboard() -> None:
    """Scores on a site: every run, or your team's."""


@leaderboard.command("show")
@click.argument("slug")
@click.option("-m", "--measure", "measures", multiple=True, metavar="MEASURE", help="Such as nDCG@10; repeatable.")
@format_option
@on_site
def show(site: Site, slug: str, measures: Sequence[str], format_: str) -> None:
    """Show every run scored, best first; to participants once it is released."""
    _show(site, f"/collections/{slug}/leaderboard", format_, m=list(measures))


@leaderboard.command("own")
@click.argument("slug")
@format_option
@on_site
def own(site: Site, slug: str, format_: str) -> None:
    """Show the scores of your team's runs, once they are released."""
    _show(site, f"/collections/{slug}/scores", format_)


@click.group
def qrels() -> None:
    """Qrels on a site."""


@qrels.command("export")
@click.argument("slug")
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Write to this file, not to standard output.")
@click.option("--version", type=click.IntRange(1), metavar="N", help="A kept version, byte for byte.")
@click.option("--unjudged", is_flag=True, help="Write -1 for what is pooled and unjudged.")
@on_site
def export(site: Site, slug: str, output: str | None, version: int | None, *, unjudged: bool) -> None:
    """Export TREC qrels of what is judged."""
    write_or_print(output, site.content(f"/collections/{slug}/qrels", version=version, unjudged=unjudged))


@click.group
def collections() -> None:
    """Collections on a site."""


@collections.command("list")
@on_site
def show_all(site: Site) -> None:
    """List the collections that you are a member of, with your roles."""
    rows = site.every("/collections")
    show_table(
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
