"""`annotator interleave`: lists to show to users, each made of two runs or more."""

from collections.abc import Sequence

import click

from annotator.cli.site.files import FILE, read_files, write_or_print
from annotator.clicks.workflows.interleaving import (
    BALANCED_BIAS,
    METHODS,
    USUAL_METHOD,
    ListsWanted,
    Method,
    make_lists,
)

MOST_DEPTH = 1_000
MOST_LISTS = 10_000
USUAL_LISTS = 60  # a multiple of two runs to six: in so many lists of them each has each turn as often


@click.command
@click.argument("runs", type=FILE, nargs=-1, required=True, metavar="RUN_A RUN_B [RUN...]")
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default=USUAL_METHOD,
    show_default=True,
    help="How lists are made; balanced takes two runs and is biased, see below.",
)
@click.option(
    "--depth",
    type=click.IntRange(1, MOST_DEPTH),
    default=10,
    show_default=True,
    metavar="K",
    help="How long a list is.",
)
@click.option(
    "--count",
    "lists",
    type=click.IntRange(1, MOST_LISTS),
    default=USUAL_LISTS,
    show_default=True,
    metavar="N",
    help="How many lists to make of each topic. Show each user one of them at random.",
)
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(0),
    required=True,
    help="What the coin is tossed by; the same gives the same.",
)
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Where to write the lists; standard output unless set.")
def command(runs: Sequence[str], method: str, depth: int, lists: int, seed: int, output: str | None) -> None:
    """Interleave runs: make lists of the documents of two runs, or of more, for every topic that all of them have.

    The file is tab-separated with the columns topic, list, position, docno, team, and one named by each run's tag with
    the rank it gave the document; - is none. The team is the tag of the run whose pick the document was. A document of
    the team - counts for no run: one of the runs had no more to pick. Balanced lists have no column team.

    Balanced interleaving has a known bias: where one run has the documents of the other moved up by one (a b c d and
    b c d a), users who click at random prefer it (Chapelle et al. 2012). Team draft does not have this bias.

    In the log of clicks, write the topic as query. Write either the team as the variant of each result, or the number
    of the list shown, and give this file to annotator clicks interleaving show --lists.
    """
    made = make_lists(read_files(runs), ListsWanted(method, depth, lists, seed))
    write_or_print(output, made.content)
    if method == Method.BALANCED:
        click.echo(str(BALANCED_BIAS), err=True)
    click.echo(f"Topics: {made.topics}, of {lists} lists each. Runs: {', '.join(made.runs)}.", err=True)
    if made.left_out:
        click.echo(f"Topics left out, as not all runs have them: {made.left_out}.", err=True)
    if lists % len(runs):
        click.echo(f"Take a multiple of {len(runs)} lists, so that each run picks first as often as another.", err=True)
