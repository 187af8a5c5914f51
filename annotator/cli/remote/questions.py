"""`annotator --site URL questions`: a participant asks the organisers, and reads the answers."""

from secrets import token_hex

import click

from annotator.cli.remote.site import on_site
from annotator.cli.site.tables import format_option, show_rows
from annotator.client import Site


@click.group
def command() -> None:
    """Questions of your team to the organisers, and the answers."""


@command.command("list")
@click.argument("slug")
@format_option()
@on_site
def show(site: Site, slug: str, format_: str) -> None:
    """List the questions of your team, newest first."""
    rows = site.every(f"/collections/{slug}/team/questions")
    show_rows(
        format_,
        ["BY", "RUN", "ASKED", "QUESTION", "ANSWER", "PUBLIC"],
        [
            [row["asked_by"], row["run"], row["asked_at"], row["text"], row["answer"] or None, row["is_public"]]
            for row in rows
        ],
    )


@command.command("ask")
@click.argument("slug")
@click.argument("text")
@click.option("--run", metavar="TAG", help="The run of your team that it is about.")
@on_site
def ask(site: Site, slug: str, text: str, run: str | None) -> None:
    """Ask the organisers; your team sees the answer, and they may show it to all participants without names."""
    site.post(f"/collections/{slug}/team/questions", {"id": token_hex(16), "text": text, "run": run})
    click.echo("The question is sent.", err=True)
