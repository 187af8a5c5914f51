"""What commands on the click logs of a collection share: how one is added, and what is told of them."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

import click

from annotator.cli.site.files import FILE
from annotator.cli.site.tables import show_rows
from annotator.clicks.cli.click_options import describes_log
from annotator.clicks.workflows.click_logs import RETURN_DAYS

HEADINGS = ("LOG", "KIND", "VARIANT", "RUN", "LINES", "LEFT OUT", "ADDED")
OPTIONS = (
    click.option("--name", required=True, metavar="TEXT", help="The name under which the log is listed."),
    click.option(
        "--interleaving",
        "is_interleaved",
        is_flag=True,
        help="Each list was made of several variants; else an A/B test.",
    ),
    click.option(
        "--lists", type=FILE, metavar="FILE", help="The lists that were shown, as annotator interleave makes them."
    ),
    click.option("--variants", nargs=2, metavar="A B", help="Which two to compare, B against A."),
    click.option("--bootstrap", is_flag=True, help="Draw users anew."),
    click.option(
        "--return-days",
        "days",
        default=RETURN_DAYS,
        show_default=True,
        metavar="N",
        help="Users return within so many days.",
    ),
    click.option("--split", default=0.5, show_default=True, metavar="SHARE", help="Of the users that A was to have."),
    click.option("--without-bots", is_flag=True, help="Leave out who sees pages faster than people read."),
)


def describes_added_log(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the arguments and options that say which log is added, how it is read and what is compared."""
    described = command
    for option in reversed(OPTIONS):
        described = option(described)
    argument = click.argument("logs", nargs=-1, required=True, type=FILE, metavar="LOG...")
    return argument(describes_log(described))


def read_links(links: Sequence[str]) -> dict[str, str | None]:
    """Runs by variant, from `VARIANT=TAG`; `UsageError` for what is not of this form."""
    runs: dict[str, str | None] = {}
    for written in links:
        variant, equals, tag = written.rpartition("=")
        if not equals or not variant:
            raise click.UsageError(f"“{written}” is not of the form VARIANT=TAG.")
        runs[variant] = tag or None
    return runs


def say_added(name: str, lines: int, dropped: int, runs: Mapping[str, str | None]) -> None:
    """Tell what was added, and which runs its variants stand for."""
    click.echo(f"Added the click log {name}: {lines} lines, {dropped} left out.", err=True)
    for variant, tag in runs.items():
        click.echo(f"{variant} stands for {'no run' if tag is None else f'the run {tag}'}.", err=True)


def show_logs(format_: str, logs: Sequence[tuple[str, str, Mapping[str, str | None], int, int, datetime]]) -> None:
    """Show logs, each by name, kind, runs by variant, lines, lines left out and the moment when it was added."""
    show_rows(
        format_,
        HEADINGS,
        [
            [name, kind, variant, tag, lines, dropped, added_at]
            for name, kind, runs, lines, dropped, added_at in logs
            for variant, tag in runs.items()
        ],
    )
