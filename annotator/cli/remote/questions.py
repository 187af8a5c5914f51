"""`annotator --site URL questions`: a participant asks and reads the answers; organisers list questions and answer."""

from datetime import datetime
from http import HTTPStatus
from secrets import token_hex

import click

from annotator.cli.judging.question_rows import open_option, public_option, say_answered, show_questions
from annotator.cli.remote.site import on_site
from annotator.cli.site.tables import format_option, show_rows
from annotator.client import Site
from annotator.client.site import SiteError, in_path


@click.group
def command() -> None:
    """Questions to the organisers, and the answers: of your team, or all of them for organisers."""


@command.command("list")
@click.argument("slug")
@open_option
@format_option()
@on_site
def show(site: Site, slug: str, format_: str, *, only_open: bool) -> None:
    """List the questions of your team, newest first; organisers list all of them, open ones first."""
    try:
        everything = site.every(f"/collections/{in_path(slug)}/questions")
    except SiteError as refusal:
        if refusal.status != HTTPStatus.FORBIDDEN:
            raise
        _show_own(site, slug, format_, only_open=only_open)
    else:
        moments = (
            {**one, "asked_at": datetime.fromisoformat(one["asked_at"])}
            for one in everything
            if one["answered_at"] is None or not only_open
        )
        show_questions(format_, moments)


def _show_own(site: Site, slug: str, format_: str, *, only_open: bool) -> None:
    rows = [
        row
        for row in site.every(f"/collections/{in_path(slug)}/team/questions")
        if row["answered_at"] is None or not only_open
    ]
    show_rows(
        format_,
        ["BY", "RUN", "ASKED", "QUESTION", "ANSWER", "PUBLIC"],
        [
            [row["asked_by"], row["run"], row["asked_at"], row["text"], row["answer"] or None, row["is_public"]]
            for row in rows
        ],
    )


@command.command("answer")
@click.argument("slug")
@click.argument("number", type=click.IntRange(1, 999_999_999))
@click.argument("text")
@public_option
@on_site
def answer(site: Site, slug: str, number: int, text: str, *, public: bool | None) -> None:
    """Answer the question NUMBER, or change its answer; the person who asked sees it. For organisers."""
    body = {"text": text} if public is None else {"text": text, "public": public}
    site.put(f"/collections/{in_path(slug)}/questions/{number}/answer", body)
    say_answered(number)


@command.command("ask")
@click.argument("slug")
@click.argument("text")
@click.option("--run", metavar="TAG", help="The run of your team that it is about.")
@on_site
def ask(site: Site, slug: str, text: str, run: str | None) -> None:
    """Ask the organisers; your team sees the answer, and they may show it to all participants without names."""
    site.post(f"/collections/{in_path(slug)}/team/questions", {"id": token_hex(16), "text": text, "run": run})
    click.echo("The question is sent.", err=True)
