"""`annotator leaderboard`: every run scored."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import click

from annotator.cli.argument_text import FILE
from annotator.cli.input_files import read_file
from annotator.cli.installation import Installation, on_installation
from annotator.cli.tables import Row, show_csv, show_json, show_table
from annotator.workflows.leaderboard import (
    DEFAULT_MEASURES,
    Leaderboard,
    LeaderboardRow,
    build_leaderboard,
    leaderboard_csv,
    split_names,
)

ALL_TOPICS = "all"  # trec_eval's word for the mean
HOW_FAR_JUDGED = "Judged@10"
JUDGED = re.compile(r"\s*judged\s*[@(].*", re.IGNORECASE)  # at any cutoff


@click.group
def command() -> None:
    """Every run scored."""


@command.command("show")
@click.argument("slug")
@click.option(
    "-m", "--measure", "measures", multiple=True, metavar="MEASURE", help="Such as nDCG@10, AP, P@5, RR; repeatable."
)
@click.option("--format", "format_", default="table", type=click.Choice(["table", "csv", "json"]))
@click.option("--per-topic", is_flag=True, help="Show the value of each topic too.")
@click.option("--policy", metavar="POLICY", help="Settle by this consensus policy, not by the collection's.")
@click.option("--judge", metavar="NAME", help="Score by the grades of one judge.")
@click.option("--qrels", "qrels_path", type=FILE, metavar="FILE", help="Score by a file of TREC qrels.")
@on_installation
def show(
    installation: Installation,
    slug: str,
    measures: Sequence[str],
    format_: str,
    policy: str | None,
    judge: str | None,
    qrels_path: str | None,
    *,
    per_topic: bool,
) -> None:
    """Score every run by what is judged at this moment, best first by the first measure.

    A table shows four decimals; csv and json are exact. How much of the first ten documents is judged is always shown.
    """
    if qrels_path is not None and (policy is not None or judge is not None):
        raise click.UsageError("--qrels stands alone: a file has neither judges nor a consensus policy.")
    qrels_file = read_file(qrels_path) if qrels_path is not None else None
    with installation.database.reading() as session:
        leaderboard = build_leaderboard(
            session,
            slug,
            _with_how_far_judged(measures or DEFAULT_MEASURES),
            policy=policy,
            judge=judge,
            qrels_file=qrels_file,
            unpacked_limit=installation.settings.unpacked_limit,
        )
    match format_:
        case "json":
            show_json(_as_json(leaderboard, per_topic=per_topic))
        case "csv":
            _show_csv(leaderboard, per_topic=per_topic)
        case _:
            _show_table(leaderboard, per_topic=per_topic)


def _with_how_far_judged(measures: Sequence[str]) -> list[str]:
    """Scores are never shown without how much of a ranking is judged."""
    has_it = any(JUDGED.fullmatch(name) for measure in measures for name in split_names(measure))
    return [*measures] if has_it else [*measures, HOW_FAR_JUDGED]


def _show_table(leaderboard: Leaderboard, *, per_topic: bool) -> None:
    if per_topic:
        show_table(["RUN", "TOPIC", *leaderboard.measures], list(_topic_rows(leaderboard)))
    else:
        rows = [[row.tag, row.team, *row.values] for row in leaderboard.rows]
        show_table(["RUN", "TEAM", *leaderboard.measures], rows)
    settled = f" settled by {leaderboard.policy}" if leaderboard.policy else ""
    click.echo(
        f"\nQrels: {leaderboard.source}{settled}, {leaderboard.grades} grades, fingerprint {leaderboard.fingerprint}; "
        f"relevant from {leaderboard.relevant_from}.\n"
        f"Topics: {len(leaderboard.topics)} scored, {leaderboard.topics_left_out} without a grade left out."
    )


def _show_csv(leaderboard: Leaderboard, *, per_topic: bool) -> None:
    """Every line names the qrels, so that it can be cut out and still says what it is."""
    if not per_topic:
        click.echo(leaderboard_csv(leaderboard).encode(), nl=False)
        return
    against = [
        leaderboard.source,
        leaderboard.policy,
        leaderboard.grades,
        len(leaderboard.topics),
        leaderboard.fingerprint,
    ]
    show_csv(
        ["run", "topic", *leaderboard.measures, "qrels", "policy", "grades", "topics", "fingerprint"],
        [[*row, *against] for row in _topic_rows(leaderboard)],
    )


def _topic_rows(leaderboard: Leaderboard) -> Iterator[Row]:
    """A row a run and topic, and its mean under them, as trec_eval does."""
    for row in leaderboard.rows:
        for topic in leaderboard.topics:
            yield [row.tag, topic, *row.by_topic[topic]]
        yield [row.tag, ALL_TOPICS, *row.values]


def _as_json(leaderboard: Leaderboard, *, per_topic: bool) -> dict[str, object]:
    return {
        **asdict(leaderboard),
        "rows": [_row_as_json(leaderboard, row, per_topic=per_topic) for row in leaderboard.rows],
    }


def _row_as_json(leaderboard: Leaderboard, row: LeaderboardRow, *, per_topic: bool) -> dict[str, object]:
    means = dict(zip(leaderboard.measures, row.values, strict=True))
    topics = {topic: dict(zip(leaderboard.measures, row.by_topic[topic], strict=True)) for topic in leaderboard.topics}
    return {"tag": row.tag, "team": row.team, "values": means, **({"by_topic": topics} if per_topic else {})}
