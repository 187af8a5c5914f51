"""`annotator leaderboard run`, `topic` and `topics`: the detail behind the scores of the leaderboard."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any

import click

from annotator.cli.site.installation import Installation, on_installation
from annotator.cli.site.options import is_residual, qrels_option, residual_option, round_option, task_option
from annotator.cli.site.tables import Row, by_measures, format_option, say_by_measure, show_by_measure, show_table
from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.workflows.leaderboard.inspected_tables import (
    RUN_TABLES,
    TOPIC_TABLES,
    TOPICS_TABLES,
    Found,
    Table,
    table_of,
)
from annotator.workflows.leaderboard.inspecting import (
    MOST_TOP,
    USUAL_TOP,
    Choices,
    GradesChosen,
    inspect_run,
    inspect_topic,
    inspect_topics,
)

OPTIONS = (
    by_measures(USUAL_MEASURE, "The measure of the scores"),
    qrels_option,
    click.option("--policy", metavar="POLICY", help="Settle by this consensus policy, not by the collection's."),
    click.option("--judge", metavar="NAME", help="Score by the grades of this judge."),
    round_option,
    residual_option,
    task_option,
    format_option(),
)


def _chooses_grades(command: Callable[..., None]) -> Callable[..., None]:
    """Add the measures, the grades and the format to a command, which gets the grades as `grades`."""

    @wraps(command)
    def with_grades(
        *args: Any,  # noqa: ANN401 - the command's own
        qrels: str,
        policy: str | None,
        judge: str | None,
        round_number: int | None,
        residual: bool | None,
        task: str | None,
        **options: Any,  # noqa: ANN401 - passed on unchanged
    ) -> None:
        if policy is not None and judge is not None:
            raise click.UsageError("Give --policy or --judge, not both.")
        scope = (round_number, is_residual(round_number, residual=residual), task)
        command(*args, grades=GradesChosen(qrels, judge, policy, *scope), **options)

    described: Callable[..., None] = with_grades
    for option in reversed(OPTIONS):
        described = option(described)
    return described


def _by(tables: Mapping[str, Any], usual: str, help_text: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option(
        "--by",
        type=click.Choice(list(tables)),
        default=usual,
        show_default=True,
        help=f"One table of the report: {help_text}.",
    )


@click.group("run")
def run() -> None:
    """One run, topic by topic."""


@run.command("show")
@click.argument("slug")
@click.argument("tag")
@_by(
    RUN_TABLES,
    "topics",
    "its score on each topic, precision at levels of recall, points of one topic, gain by rank, scores of its "
    "documents, unjudged documents, or the ranked documents of a topic",
)
@click.option(
    "--topic", "topics", multiple=True, metavar="NUMBER", help="The topic of points and documents. [the first]"
)
@click.option(
    "--top",
    default=USUAL_TOP,
    show_default=True,
    type=click.IntRange(1, MOST_TOP),
    metavar="RANK",
    help="List documents down to this rank.",
)
@_chooses_grades
@on_installation
def show_run(
    installation: Installation,
    slug: str,
    tag: str,
    by: str,
    topics: tuple[str, ...],
    top: int,
    measures: tuple[str, ...],
    format_: str,
    *,
    grades: GradesChosen,
) -> None:
    """Show a run: the score of each topic beside the median, the best and the worst of all runs.

    json has every table. `documents` is the ranking of one topic with its grades; an unjudged document has none.
    """
    if len(topics) > 1:
        raise click.UsageError("The documents of one topic are shown: give --topic once.")
    topic = topics[0] if topics else None
    with installation.database.reading() as session:
        found = {
            one: inspect_run(session, slug, tag, measure=one, top=top, topic=topic, grades=grades) for one in measures
        }
    _show(format_, by, RUN_TABLES, found)


@click.group("topic")
def topic() -> None:
    """One topic, run by run."""


@topic.command("show")
@click.argument("slug")
@click.argument("number")
@_by(
    TOPIC_TABLES,
    "runs",
    "the score of each run, relevant documents and who found them, or their number by grade, by number of runs, or by "
    "the only team that found them",
)
@click.option(
    "--depth",
    type=click.IntRange(1, MOST_TOP),
    metavar="K",
    help="A run has found a document that it has to this rank. [at any rank]",
)
@_chooses_grades
@on_installation
def show_topic(
    installation: Installation,
    slug: str,
    number: str,
    by: str,
    depth: int | None,
    measures: tuple[str, ...],
    format_: str,
    *,
    grades: GradesChosen,
) -> None:
    """Show a topic: the score of every run, and its relevant documents with the runs and teams that found them.

    json has every table.
    """
    with installation.database.reading() as session:
        found = {one: inspect_topic(session, slug, number, measure=one, depth=depth, grades=grades) for one in measures}
    _show(format_, by, TOPIC_TABLES, found)


@click.group("topics")
def topics_group() -> None:
    """All topics by difficulty."""


@topics_group.command("list")
@click.argument("slug")
@_by(TOPICS_TABLES, "topics", "how hard each topic is, or the score of every run on every topic")
@_chooses_grades
@on_installation
def list_topics(
    installation: Installation, slug: str, by: str, measures: tuple[str, ...], format_: str, *, grades: GradesChosen
) -> None:
    """List the topics, the hardest first: median, quartiles and spread of the scores of all runs."""
    with installation.database.reading() as session:
        found = {one: inspect_topics(session, slug, measure=one, grades=grades) for one in measures}
    _show(format_, by, TOPICS_TABLES, found)


def _show(format_: str, by: str, tables: Mapping[str, Table[Found]], found: Mapping[str, Found]) -> None:
    """Show one table of a report for each measure; JSON has all tables."""
    show_by_measure(
        format_,
        found,
        as_json=lambda one: {name: _objects(*table_of(tables, name, one)) for name in tables},
        as_csv=lambda one: table_of(tables, by, one),
        tables=lambda one: _show_table(*table_of(tables, by, one)),
    )
    say_by_measure({measure: _notes(one.choices) for measure, one in found.items()})


def _objects(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> list[dict[str, object]]:
    return [dict(zip(headings, row, strict=True)) for row in rows]


def _show_table(headings: Sequence[str], rows: Sequence[Row]) -> None:
    show_table([heading.upper().replace("_", " ") for heading in headings], rows)


def _notes(choices: Choices) -> Iterator[str]:
    yield from map(str, choices.notices)
    state = choices.state
    settled = "" if state.policy is None else f" settled by {state.policy}"
    yield (
        f"Qrels: {state.named}{settled}, {state.grades} grades, fingerprint {state.fingerprint}; relevant from "
        f"{state.relevant_from}. Topics: {state.topics} scored, {state.topics_left_out} without a grade left out."
    )
