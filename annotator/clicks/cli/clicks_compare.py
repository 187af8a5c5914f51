"""`annotator clicks check`, `compare` and `positions show`: contents of a log, two variants, clicks by position."""

from collections.abc import Iterator
from datetime import datetime

import click

from annotator.cli.site.tables import Cell, format_option, show_csv, show_json, show_table
from annotator.clicks.cli.log_stores import GivenLog, reads_click_log
from annotator.clicks.workflows.click_logs import (
    PAGES_AN_HOUR,
    RETURN_DAYS,
    USUAL_SEED,
    ClickComparison,
    ComparisonTable,
    ComparisonWanted,
    Expected,
    LogFacts,
    check_click_log,
    compare_log_files,
    conclusion,
    positions_of_log_files,
    table_of,
    to_json,
)

HEADINGS = ("variant", "users", "sessions", "impressions", "clicks", "dwells", "ratings", "conversions")


# Columns of each table that do not fit on a terminal.
NOT_ON_TERMINALS = frozenset({"units_first", "units_second", "entries_first", "entries_second", "z", "reason"})
SHOWN_UNASKED = (ComparisonTable.CHECKS, ComparisonTable.VARIANTS, ComparisonTable.MEASURES)


@click.command("compare")
@reads_click_log
@click.option(
    "--variants", nargs=2, metavar="A B", help="The two variants to compare, B against A; needed if the log has more."
)
@click.option("--bootstrap", is_flag=True, help="Bootstrap over users (1,000 resamples) instead of the delta method.")
@click.option(
    "--seed",
    metavar="N",
    default=USUAL_SEED,
    show_default=True,
    type=click.IntRange(0),
    help="The seed of the bootstrap.",
)
@click.option(
    "--return-days",
    "days",
    default=RETURN_DAYS,
    show_default=True,
    type=int,
    metavar="N",
    help="Users return within this many days.",
)
@click.option(
    "--split", default=0.5, show_default=True, type=float, metavar="SHARE", help="The planned share of users for A."
)
@click.option(
    "--difference",
    type=float,
    metavar="D",
    help="The smallest difference of CTR@1 worth detecting. [a twentieth of the mean of both]",
)
@click.option(
    "--pages-an-hour",
    default=PAGES_AN_HOUR,
    show_default=True,
    type=int,
    metavar="N",
    help="Users with more pages than this are treated as bots.",
)
@click.option("--without-bots", is_flag=True, help="Leave out users treated as bots.")
@click.option("--by", type=click.Choice([part.value for part in ComparisonTable]), help="One table of the report.")
@format_option()
def compare(
    log: GivenLog,
    variants: tuple[str, str] | None,
    bootstrap: bool,  # noqa: FBT001 - click's flag
    seed: int,
    days: int,
    split: float,
    difference: float | None,
    pages_an_hour: int,
    without_bots: bool,  # noqa: FBT001 - click's flag
    by: str | None,
    format_: str,
) -> None:
    """Compare two variants of a search by the clicks of their users; nothing is stored.

    Differences are B - A, with the 95 % interval and p by the delta method over users; by the z test of two proportions
    if each user has one page, or the log names no users; p_holm is corrected for the number of measures. A table
    without --by shows checks, variants and measures, csv the measures; json always has all.
    """
    expected = Expected(split, pages_an_hour, leaves_bots_out=without_bots)
    wanted = ComparisonWanted(variants or None, bootstrap, seed, days, expected, difference)
    with log.watched() as advance:
        comparison = compare_log_files(log.files, log.mapping, wanted, advance=advance)
    match format_:
        case "json":
            show_json({"conclusion": str(conclusion(comparison)), **to_json(comparison)})
        case "csv":
            show_csv(*table_of(comparison, ComparisonTable(by or ComparisonTable.MEASURES)))
        case _:
            for place, part in enumerate([ComparisonTable(by)] if by else SHOWN_UNASKED):
                if place:
                    click.echo()
                _show(comparison, part)
    for line in _notes(comparison):
        click.echo(line, err=True)


@click.group("positions")
def positions() -> None:
    """Clicks by position on the page."""


@positions.command("show")
@reads_click_log
@format_option()
def show_positions(log: GivenLog, format_: str) -> None:
    """Count clicks by position on the first page, for every variant of a log.

    Clicks are not relevance: people look at the top first, whatever is shown there.
    """
    with log.watched() as advance:
        headings, rows = positions_of_log_files(log.files, log.mapping, advance=advance)
    match format_:
        case "json":
            show_json([dict(zip(headings, row, strict=True)) for row in rows])
        case "csv":
            show_csv(headings, rows)
        case _:
            show_table([heading.upper() for heading in headings], rows)


def _show(comparison: ClickComparison, part: ComparisonTable) -> None:
    headings, rows = table_of(comparison, part)
    kept = [
        place
        for place, heading in enumerate(headings)
        if heading not in NOT_ON_TERMINALS or part is ComparisonTable.DROPPED
    ]
    cells: list[list[Cell]] = [[row[place] for place in kept] for row in rows]
    show_table([headings[place].upper() for place in kept], cells)


def _notes(comparison: ClickComparison) -> Iterator[str]:
    first, second = comparison.names
    yield str(conclusion(comparison))
    yield f"Every difference is {second} less {first}."
    if comparison.begins is not None:
        yield f"From {comparison.begins} to {comparison.ends}, {comparison.lines} lines."
    if comparison.other_events:
        yield f"Events of other variants, or of none: {comparison.other_events}."
    for reason, events in comparison.dropped.items():
        yield f"Left out: {reason}, {events}."
    if comparison.seed is not None:
        yield f"The bootstrap draws by seed {comparison.seed}."
    if comparison.queries_left_out:
        yield f"Queries that are asked less often and left out of the tables: {comparison.queries_left_out}."
    for row in comparison.measures:
        if row.reason is not None:
            yield f"{row.measure.value}: {row.reason.sentence}"


@click.command("check")
@reads_click_log
@format_option()
def check(log: GivenLog, format_: str) -> None:
    """Report all errors in a log, or else what it holds; nothing is stored.

    Each line of a log has some of: time, user, session, query, variant, page, position, docno, event, value. Several
    files make one log; - is standard input.
    """
    with log.watched() as advance:
        checked = check_click_log(log.files, log.mapping, advance=advance)
    facts = checked.facts
    match format_:
        case "json":
            show_json(_as_json(facts))
        case "csv":
            show_csv(HEADINGS, _rows(facts))
        case _:
            show_table([heading.upper() for heading in HEADINGS], _rows(facts))
            click.echo()
            for sentence in _sentences(facts):
                click.echo(sentence)
    for problem in checked.bad_lines.by_file():
        click.echo(str(problem), err=True)


def _rows(facts: LogFacts) -> list[list[str | int | None]]:
    return [[one.variant, one.users, one.sessions, *one.events.values()] for one in facts.variants]


def _sentences(facts: LogFacts) -> Iterator[str]:
    yield (
        f"Lines: {facts.lines}. Events: {facts.events}. Users: {facts.users}. Sessions: {facts.sessions}. "
        f"Queries: {facts.queries}. Documents: {facts.documents}."
    )
    if facts.first is not None and facts.last is not None:
        yield f"From {_written(facts.first)} to {_written(facts.last)}."
    if facts.dropped:
        yield "Left out: " + ", ".join(f"{reason} {count}" for reason, count in facts.dropped.items()) + "."
    if facts.unsaid:
        yield f"The log does not say: {', '.join(facts.unsaid)}."
    yield from map(str, facts.notices)


def _written(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _as_json(facts: LogFacts) -> dict[str, object]:
    return {
        "lines": facts.lines,
        "events": facts.events,
        "users": facts.users,
        "sessions": facts.sessions,
        "queries": facts.queries,
        "documents": facts.documents,
        "first": None if facts.first is None else facts.first.isoformat(),
        "last": None if facts.last is None else facts.last.isoformat(),
        "variants": [
            {"variant": one.variant, "users": one.users, "sessions": one.sessions, **one.events}
            for one in facts.variants
        ],
        "dropped": dict(facts.dropped),
        "unsaid": facts.unsaid,
        "notices": [str(notice) for notice in facts.notices],
    }
