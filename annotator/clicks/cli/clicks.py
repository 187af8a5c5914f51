"""`annotator clicks`: what the users of a search do with its results."""

import click

from annotator.clicks.cli.click_logs import add, link, list_, remove, show, together
from annotator.clicks.cli.clicks_check import check
from annotator.clicks.cli.clicks_compare import compare, positions
from annotator.clicks.cli.clicks_interleaving import interleaving


@click.group
def command() -> None:
    """Click logs, plain or gzip, comma-separated or JSON Lines: check them, compare the variants of a search."""


command.add_command(check)
command.add_command(compare)
command.add_command(positions)
command.add_command(interleaving)
command.add_command(add)
command.add_command(list_)
command.add_command(show)
command.add_command(link)
command.add_command(remove)
command.add_command(together)
