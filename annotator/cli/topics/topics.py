"""`annotator topics`: import, list, accept, drop and restore topics."""

from collections.abc import Sequence

import click

from annotator.cli.collections import deletions
from annotator.cli.site.files import FILE, write_or_print
from annotator.cli.site.input_files import from_option, given_files, input_format_option
from annotator.cli.site.installation import Installation, note, on_installation
from annotator.cli.site.options import dry_run_option, show_outcome
from annotator.cli.site.progress import watched
from annotator.cli.site.tables import Row, Table, by_measures, format_option, say_by_measure, show_rows, show_tables
from annotator.errors import ConflictError
from annotator.evaluation.formats.input_formats import Holds
from annotator.evaluation.leaderboard.leaderboard_making import DroppingEffect
from annotator.evaluation.metrics.names import DEFAULT_MEASURES
from annotator.evaluation.qrels.topic_flags import TopicFlag
from annotator.storage import TopicState
from annotator.workflows.leaderboard import leaderboard
from annotator.workflows.pools import pool_selection
from annotator.workflows.qrels.flagged_topics import flagged_topics
from annotator.workflows.topics import topic_editing, topics
from annotator.workflows.topics.topic_editing import TopicWords

several = click.argument("numbers", nargs=-1, required=True, metavar="NUMBER...")


@click.group
def command() -> None:
    """Topics: import and list them, draft, accept, drop and restore them, find those that measure little."""


@command.command("import")
@click.argument("slug")
@click.argument("files", nargs=-1, type=FILE, metavar="[FILE...]")
@click.option(
    "--draft",
    is_flag=True,
    help="Import new topics as drafts, which are neither shown nor pooled before they are accepted.",
)
@input_format_option(Holds.TOPICS)
@from_option
@dry_run_option
@on_installation
def import_files(
    installation: Installation,
    slug: str,
    files: Sequence[str],
    input_format: str | None,
    sources: Sequence[str],
    *,
    draft: bool,
    dry_run: bool,
) -> None:
    """Import topics: TREC SGML or XML, NUMBER<TAB>TITLE, CSV with a heading, JSON or Parquet, also compressed.

    A folder is one of BEIR or of Hugging Face's datasets.
    A topic with an existing number takes the new text, unless documents were judged by the present one.
    """
    limit = installation.settings.unpacked_limit
    read = given_files(files, Holds.TOPICS, input_format=input_format, sources=sources, unpacked_limit=limit)
    with watched(read) as given:
        parsed = topics.read_topics(given, unpacked_limit=limit)
    state = TopicState.DRAFT if draft else TopicState.ACCEPTED
    with installation.database.transaction(keep=not dry_run) as session:
        most = installation.settings.topic_limit
        done = topics.import_topics(session, slug, parsed, state=state, most=most)
        note(session, "topics.import", slug, subject=", ".join((*files, *sources)), details=vars(done))
    counts = f"Topics: {done.added} added, {done.changed} changed, {done.unchanged} unchanged."
    show_outcome(counts, dry_run=dry_run)


@command.command("export")
@click.argument("slug")
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Write to this file instead of standard output.")
@on_installation
def export(installation: Installation, slug: str, output: str | None) -> None:
    """Export the accepted topics as JSONL, for participants; `topics import` reads it."""
    rows = installation.database.read(topics.list_topics, slug)
    write_or_print(output, topics.topics_jsonl(rows).encode())


@command.command("list")
@click.argument("slug")
@format_option()
@on_installation
def show(installation: Installation, slug: str, format_: str) -> None:
    """List the topics with the sizes of their pools, their states and the reasons of dropped ones."""
    rows = installation.database.read(topics.list_topics, slug)
    show_rows(
        format_,
        ["TOPIC", "POOL", "STATE", "TITLE", "REASON"],
        [[row.number, row.pool_items, row.state.value, row.title, row.reason or None] for row in rows],
    )


@command.command("add")
@click.argument("slug")
@click.argument("number")
@click.option("--title", required=True, metavar="TEXT", help="The query, as a searcher would type it.")
@click.option("--description", default="", metavar="TEXT", help="The information need, in a sentence.")
@click.option("--narrative", default="", metavar="TEXT", help="What is relevant and what is not.")
@click.option("--language", metavar="LANGUAGE", help="The language of the topic, such as ko.")
@on_installation
def add(
    installation: Installation,
    slug: str,
    number: str,
    title: str,
    description: str,
    narrative: str,
    language: str | None,
) -> None:
    """Add a topic as a draft. Only organisers see it before `topics accept`."""
    with installation.database.transaction() as session:
        topic_editing.add_draft(session, slug, number, TopicWords(title, description, narrative, language))
        note(session, "topics.add", slug, subject=number)
    click.echo(f"Topic {number} is drafted.", err=True)


@command.command("set")
@click.argument("slug")
@click.argument("number")
@click.option("--title", metavar="TEXT", help="The query, as a searcher would type it.")
@click.option("--description", metavar="TEXT", help="The information need, in a sentence.")
@click.option("--narrative", metavar="TEXT", help="What is relevant and what is not.")
@click.option("--language", metavar="LANGUAGE", help="The language of the topic; empty for none.")
@on_installation
def edit(
    installation: Installation,
    slug: str,
    number: str,
    title: str | None,
    description: str | None,
    narrative: str | None,
    language: str | None,
) -> None:
    """Change the given fields of a topic, as long as none of its documents was judged."""
    given = {"title": title, "description": description, "narrative": narrative, "language": language}
    changes = {name: text for name, text in given.items() if text is not None}
    with installation.database.transaction() as session:
        changed = topic_editing.change_some_words(session, slug, number, changes)
        note(session, "topics.edit", slug, subject=number)
    click.echo(f"Topic {number} has {'its new' if changed else 'these'} words.", err=True)


@command.command("accept")
@click.argument("slug")
@several
@on_installation
def accept(installation: Installation, slug: str, numbers: Sequence[str]) -> None:
    """Accept drafts: participants see them, and the next pool includes them."""
    with installation.database.transaction() as session:
        accepted = topic_editing.accept_topics(session, slug, numbers)
        note(session, "topics.accept", slug, subject=", ".join(accepted))
    click.echo(f"Topics accepted: {len(accepted)}.", err=True)


@command.command("drop")
@click.argument("slug")
@several
@click.option(
    "--reason",
    required=True,
    metavar="TEXT",
    help="The reason, shown in the list of topics and in the manifest of qrels.",
)
@on_installation
def drop(installation: Installation, slug: str, numbers: Sequence[str], reason: str) -> None:
    """Drop topics: they keep their judgements, but are left out of all qrels and leaderboards."""
    with installation.database.transaction() as session:
        dropped = topic_editing.drop_topics(session, slug, numbers, reason=reason)
        note(session, "topics.drop", slug, subject=", ".join(dropped), details={"reason": reason})
    click.echo(f"Topics dropped: {len(dropped)}.", err=True)


@command.command("restore")
@click.argument("slug")
@several
@on_installation
def restore(installation: Installation, slug: str, numbers: Sequence[str]) -> None:
    """Restore dropped topics, with all their judgements."""
    with installation.database.transaction() as session:
        restored = topic_editing.restore_topics(session, slug, numbers)
        note(session, "topics.restore", slug, subject=", ".join(restored))
    click.echo(f"Topics restored: {len(restored)}.", err=True)


@command.group("flags")
def flags() -> None:
    """Topics that measure little."""


@flags.command("list")
@click.argument("slug")
@by_measures(DEFAULT_MEASURES[0], "The measure that shows the effect")
@click.option("--topic", "numbers", multiple=True, metavar="NUMBER", help="Try dropping this one; repeatable.")
@format_option()
@on_installation
def list_flags(
    installation: Installation, slug: str, measures: Sequence[str], numbers: Sequence[str], format_: str
) -> None:
    """Show topics with fewer than three relevant documents or with 40 % or more of the judged ones relevant.

    Below them it shows the leaderboard without these topics, or without those named by --topic: the value and rank of
    each run, and Kendall's tau of the two rankings. Topics with unjudged documents are left out of this comparison. csv
    is the topics, whatever the measure.
    """
    with installation.database.reading() as session:
        to_come = pool_selection.choices_left(session, slug, memory=pool_selection.Memory())
        flagged = flagged_topics(session, slug, to_come=to_come)
    chosen = numbers or [flag.topic.number for flag in flagged if flag.is_final]
    effects = _effects(installation, slug, measures, chosen, only_if_any=not numbers) if chosen else {}
    headings = ["TOPIC", "POOL", "JUDGED", "RELEVANT", "WAITING", "WHY"]
    tables = [Table("topics", headings, list(map(_flag_row, flagged)))]
    show_tables(format_, *tables, *([_without(list(effects.values()))] if effects else []))
    say_by_measure({measure: [*map(str, effect.notices), _in_short(effect)] for measure, effect in effects.items()})


def _effects(
    installation: Installation, slug: str, measures: Sequence[str], numbers: Sequence[str], *, only_if_any: bool
) -> dict[str, DroppingEffect]:
    """The effect of dropping these topics; with `only_if_any`, topics without an effect to show raise no error."""
    try:
        with installation.database.reading() as session:
            boards = [leaderboard.build_leaderboard(session, slug, [measure]) for measure in measures]
        effects = [leaderboard.effect_on_leaderboard(board, numbers) for board in boards]
    except ConflictError as nothing_to_compare:
        if not only_if_any:
            raise
        click.echo(nothing_to_compare, err=True)
        return {}
    return {effect.measure: effect for effect in effects}


def _flag_row(flag: TopicFlag) -> Row:
    topic = flag.topic
    return [topic.number, topic.pooled, topic.judged, topic.relevant, topic.waiting, str(flag.fault.sentence)]


def _without(effects: Sequence[DroppingEffect]) -> Table:
    moves = ["WITHOUT", "PLACE", "PLACE WITHOUT", "MOVES"]
    rows: list[Row] = [
        [effect.measure, run.run, run.with_them, run.without_them, run.place_with, run.place_without, run.moves]
        for effect in effects
        for run in effect.runs
    ]
    if len(effects) > 1:
        return Table("runs", ["MEASURE", "RUN", "WITH", *moves], rows)
    return Table("runs", ["RUN", effects[0].measure, *moves], [row[1:] for row in rows])


def _in_short(effect: DroppingEffect) -> str:
    tau = "none, as there is no order to compare" if effect.tau is None else f"{effect.tau:.4f}"
    return (
        f"Without topics {', '.join(effect.dropped)}: {effect.topics_left} topics left; "
        f"runs that change places: {sum(run.moves for run in effect.runs)}; Kendall's tau: {tau}."
    )


command.add_command(deletions.remove_topic, "remove")
