"""`annotator clicks check`: whether a log can be read, and what it holds."""

from collections.abc import Iterator
from datetime import datetime

import click

from annotator.cli.site.tables import format_option, show_csv, show_json, show_table
from annotator.clicks.cli.click_options import GivenLog, reads_click_log
from annotator.clicks.workflows.click_files import LogFacts, check_click_log

HEADINGS = ("variant", "users", "sessions", "impressions", "clicks", "dwells", "ratings", "conversions")


@click.command("check")
@reads_click_log
@format_option()
def check(log: GivenLog, format_: str) -> None:
    """Say everything that is wrong with a log, or else what it holds; nothing is stored.

    A log names in each line some of: time, user, session, query, variant, page, position, docno, event, value. Several
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
            for sentence in _said(facts):
                click.echo(sentence)
    for problem in checked.bad_lines.by_file():
        click.echo(str(problem), err=True)


def _rows(facts: LogFacts) -> list[list[str | int | None]]:
    return [[one.variant, one.users, one.sessions, *one.events.values()] for one in facts.variants]


def _said(facts: LogFacts) -> Iterator[str]:
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
