"""`annotator interleave` makes lists of several runs; `annotator clicks interleaving show` scores their clicks."""

from collections.abc import Iterator, Sequence

import click

from annotator.cli.site.files import FILE, read_file, read_files, write_or_print
from annotator.cli.site.tables import Cell, format_option, show_csv, show_json, show_table
from annotator.clicks.cli.log_stores import GivenLog, reads_click_log
from annotator.clicks.workflows.interleaving import (
    BALANCED_BIAS,
    METHODS,
    MOST_DEPTH,
    MOST_LISTS,
    TABLES,
    USUAL_DEPTH,
    USUAL_LISTS,
    USUAL_METHOD,
    USUAL_SEED,
    USUAL_TABLE,
    InterleavingResult,
    ListsWanted,
    Method,
    ScoredLog,
    ScoresWanted,
    make_lists,
    score_log_files,
    table_of,
    to_json,
)


@click.group("interleaving")
def interleaving() -> None:
    """Which run users prefer, by their clicks on interleaved lists."""


@interleaving.command("show")
@reads_click_log
@click.option(
    "--lists", type=FILE, metavar="FILE", help="The file that annotator interleave wrote, if variants are its lists."
)
@click.option("--variants", nargs=2, metavar="A B", help="Without --lists: compare these two alone, A against B.")
@click.option("--bootstrap", is_flag=True, help="Also the bootstrap interval and p of Δ over users (10,000 resamples).")
@click.option(
    "--seed",
    metavar="N",
    default=USUAL_SEED,
    show_default=True,
    type=click.IntRange(0),
    help="The seed of the bootstrap.",
)
@click.option(
    "--by", type=click.Choice(TABLES), default=USUAL_TABLE, show_default=True, help="One table of the report."
)
@format_option()
def show_interleaving(
    log: GivenLog,
    lists: str | None,
    variants: tuple[str, str] | None,
    bootstrap: bool,  # noqa: FBT001 - click's flag
    seed: int,
    by: str,
    format_: str,
) -> None:
    """Score the clicks on interleaved lists; nothing is stored.

    The variant of a click is the tag of the run that picked the document. With --lists it is the number of the list
    that was shown, and the query is the topic; balanced lists need this.

    One list is what one session, or without sessions one user, saw for one query. The run with more of the clicks on it
    wins. A second click on a result is not counted, and a list without counted clicks is left out. Δ is (wins of the
    first + ties / 2) / lists - 1/2, above 0 if the first is preferred; the user delta is the mean of the users' own Δ,
    with its 95 % interval. Lists of one user are not independent: if users have several, p is by the t test over users.
    If each has one, it is the exact binomial of the wins, without ties. If the log names no users, sessions take their
    place, and no result is called significant. p_holm is corrected for all pairs.
    """
    wanted = ScoresWanted(None if lists is None else read_file(lists), variants or (), seed if bootstrap else None)
    with log.watched() as advance:
        scored = score_log_files(log.files, log.mapping, wanted, advance=advance)
    match format_:
        case "json":
            show_json(to_json(scored.result))
        case "csv":
            show_csv(*table_of(scored, by))
        case _:
            _show(scored, by)
    for line in _notes(scored):
        click.echo(line, err=True)


def _show(scored: ScoredLog, by: str) -> None:
    headings, rows = table_of(scored, by)
    kept = [place for place, heading in enumerate(headings) if by != USUAL_TABLE or _has_room(heading, scored)]
    cells: list[list[Cell]] = [[row[place] for place in kept] for row in rows]
    show_table([headings[place].upper() for place in kept], cells)


def _has_room(heading: str, scored: ScoredLog) -> bool:
    """Whether a terminal shows the column; test and reasons are printed below, bootstrap columns need a seed."""
    if heading.startswith("bootstrap_"):
        return scored.result.seed is not None
    return heading not in {"test", "reason"}


def _cautions(result: InterleavingResult) -> Iterator[str]:
    """Yield how p was computed, and the warnings about it."""
    test = result.pairs[0].test
    if test is not None:
        yield f"p is by: {test.value}."
    if not result.has_users:
        yield "The log does not name a user for every list, so no result is called significant."
    if result.method is Method.BALANCED:
        yield str(BALANCED_BIAS)


def _notes(scored: ScoredLog) -> Iterator[str]:
    result = scored.result
    shown = "" if result.shown is None else f" of {result.shown} shown"
    units = "users" if result.has_users else "sessions"
    yield f"Lists with a click that counts: {result.lists}{shown}, of {result.units} {units}."
    for reason, clicks in result.uncounted.items():
        yield f"Clicks that count for no run: {reason.value}, {clicks}."
    for dropped, events in scored.dropped.items():
        yield f"Left out of {scored.lines} lines: {dropped}, {events}."
    if result.seed is not None:
        yield f"The bootstrap draws {units} by seed {result.seed}."
    yield from _cautions(result)
    if result.queries_in_all > len(result.queries) // max(len(result.pairs), 1):
        yield f"Queries in all: {result.queries_in_all}. The table of queries has those with the most lists."
    for pair in result.pairs:
        for why in dict.fromkeys((pair.no_interval, pair.no_p)):
            if why is not None:
                yield f"{pair.first} and {pair.second}: {why.sentence}"


@click.command("interleave")
@click.argument("runs", type=FILE, nargs=-1, required=True, metavar="RUN_A RUN_B [RUN...]")
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default=USUAL_METHOD,
    show_default=True,
    help="The interleaving method; balanced takes two runs and is biased, see below.",
)
@click.option(
    "--depth",
    type=click.IntRange(1, MOST_DEPTH),
    default=USUAL_DEPTH,
    show_default=True,
    metavar="K",
    help="The length of a list.",
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
    help="The seed of the random picks.",
)
@click.option("-o", "--output", type=FILE, metavar="FILE", help="The file to write the lists to. [standard output]")
def interleave_runs(runs: Sequence[str], method: str, depth: int, lists: int, seed: int, output: str | None) -> None:
    """Interleave runs: make lists of the documents of two or more runs, for every topic that all of them have.

    The file is tab-separated with the columns topic, list, position, docno, team, and one named by each run's tag with
    the rank it gave the document; - is none. The team is the tag of the run that picked the document. A document with
    the team - counts for no run: one of the runs had no more to pick. Balanced lists have no column team.

    Balanced interleaving has a known bias: if one run has the documents of the other moved up by one (a b c d and b c d
    a), users who click at random prefer it (Chapelle et al. 2012). Team draft does not have this bias.

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
