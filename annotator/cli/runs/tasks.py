"""`annotator tasks`: the tasks of a collection, each with topics, formats and limits of its own."""

from collections.abc import Sequence
from datetime import UTC, datetime

import click

from annotator.cli.site.files import FILE, read_text
from annotator.cli.site.installation import Installation, note, on_installation
from annotator.cli.site.options import confirm, is_asked, yes_at_terminal
from annotator.cli.site.tables import format_option, show_rows
from annotator.workflows.runs import run_sources, tasks
from annotator.workflows.runs.tasks import TaskFields, TaskView, read_topic_numbers

AS_COLLECTION = "collection"  # in place of a number
ANY = "any"
DIGITS = 9

description_option = click.option(
    "--description", metavar="TEXT", help="What is asked, for participants and on public pages."
)
topics_option = click.option(
    "--topics", "topics_file", type=FILE, metavar="FILE", help="The numbers of its topics, one a line. [every topic]"
)
formats_option = click.option(
    "--run-format",
    "formats",
    multiple=True,
    metavar="NAME",
    help="A format in which runs are taken, such as trec; repeatable. [any]",
)
most_documents_option = click.option(
    "--most-documents", metavar="N", help="The most documents for a topic. [collection: as the collection has it]"
)
most_runs_option = click.option(
    "--most-runs",
    metavar="N",
    help="The most active runs of a team for the task, in each round; 0: no limit. [collection: as the collection "
    "has it]",
)


@click.group
def command() -> None:
    """Tasks of a collection, to which runs are sent: each with topics, formats and limits of its own."""


@command.command("list")
@click.argument("slug")
@format_option()
@on_installation
def show(installation: Installation, slug: str, format_: str) -> None:
    """List the tasks of a collection."""
    rows = installation.database.read(tasks.list_tasks, slug)
    if not rows:
        click.echo("This collection has no tasks: it is a single one.", err=True)
        return
    show_rows(
        format_,
        ["KEY", "TITLE", "TOPICS", "ACCEPTED", "FORMATS", "MOST DOCUMENTS", "MOST RUNS", "RUNS", "DESCRIPTION"],
        [_row(one) for one in rows],
    )


@command.command("add")
@click.argument("slug")
@click.argument("key")
@click.argument("title")
@description_option
@topics_option
@formats_option
@most_documents_option
@most_runs_option
@on_installation
def add(
    installation: Installation,
    slug: str,
    key: str,
    title: str,
    description: str | None,
    topics_file: str | None,
    formats: Sequence[str],
    most_documents: str | None,
    most_runs: str | None,
) -> None:
    """Add a task, which runs name by KEY.

    From the first task on every new run belongs to a task; runs from before get theirs by `runs set --task`.
    """
    changes = _changes(description, topics_file, formats, most_documents, most_runs)
    with installation.database.transaction() as session:
        tasks.add_task(session, slug, key, TaskFields(**{"title": title, **changes}), at=datetime.now(UTC))  # type: ignore[arg-type]  # `_changes` has its fields
        note(session, "tasks.add", slug, subject=key)
    click.echo(f"Added the task {key}.", err=True)


@command.command("set")
@click.argument("slug")
@click.argument("key")
@click.option("--title", metavar="TEXT", help="The title.")
@description_option
@topics_option
@click.option("--every-topic", is_flag=True, help="It has every topic, those that come later included.")
@formats_option
@most_documents_option
@most_runs_option
@yes_at_terminal
@on_installation
def change(
    installation: Installation,
    slug: str,
    key: str,
    *,
    title: str | None,
    description: str | None,
    topics_file: str | None,
    every_topic: bool,
    formats: Sequence[str],
    most_documents: str | None,
    most_runs: str | None,
    yes: bool,
) -> None:
    """Change a task, and keep what is not given.

    With --topics it has these topics and no others; a topic for which runs of the task have lists stays in it.
    `--run-format any` takes runs in all formats again. Other topics change scores that are released: at a terminal it
    asks first.
    """
    if every_topic and topics_file is not None:
        raise click.UsageError("Give --topics or --every-topic, not both.")
    changes = _changes(description, topics_file, formats, most_documents, most_runs)
    if title is not None:
        changes["title"] = title
    if every_topic:
        changes["topics"] = None
    if not changes:
        raise click.UsageError(
            "Give at least one of --title, --description, --topics, --every-topic, --run-format, --most-documents, "
            "--most-runs."
        )
    if "topics" in changes and installation.database.read(tasks.are_scores_released, slug):
        effect = "Scores are released. They change at once: runs of the task are scored on other topics."
        confirm(effect, yes=not is_asked(yes=yes))
    with installation.database.transaction() as session:
        tasks.change_task(session, slug, key, changes)
        note(session, "tasks.set", slug, subject=key, details={"fields": sorted(changes)})
    click.echo(f"Changed the task {key}.", err=True)


@command.command("remove")
@click.argument("slug")
@click.argument("key")
@yes_at_terminal
@on_installation
def remove(installation: Installation, slug: str, key: str, *, yes: bool) -> None:
    """Remove a task that has neither runs nor a questionnaire."""
    if is_asked(yes=yes):
        view = installation.database.read(tasks.show_task, slug, key)
        sources = installation.database.read(run_sources.sources_of_task, slug, key)
        stopped = f" Sources that bring no run until you set another task: {', '.join(sources)}." if sources else ""
        confirm(f"This removes the task {key} (“{view.title}”).{stopped}", yes=False)
    with installation.database.transaction() as session:
        tasks.remove_task(session, slug, key)
        note(session, "tasks.remove", slug, subject=key)
    click.echo(f"Removed the task {key}.", err=True)


def _row(one: TaskView) -> list[str | int | None]:
    topics = "every" if one.fields.topics is None else len(one.fields.topics)
    return [
        *(one.key, one.title, topics, one.accepted, ", ".join(one.fields.formats) or ANY, one.most_documents),
        *(one.most_runs or None, one.runs, one.fields.description or None),
    ]


def _changes(
    description: str | None,
    topics_file: str | None,
    formats: Sequence[str],
    most_documents: str | None,
    most_runs: str | None,
) -> dict[str, object]:
    """The fields that are given, by name."""
    changes: dict[str, object] = {}
    if description is not None:
        changes["description"] = description
    if topics_file is not None:
        changes["topics"] = read_topic_numbers(read_text(topics_file))
    if formats:
        changes["formats"] = () if tuple(formats) == (ANY,) else tuple(formats)
    if most_documents is not None:
        changes["most_documents"] = _limit("--most-documents", most_documents)
    if most_runs is not None:
        changes["most_runs"] = _limit("--most-runs", most_runs)
    return changes


def _limit(option: str, given: str) -> int | None:
    """The number; None for that of the collection."""
    if given == AS_COLLECTION:
        return None
    if not (given.isascii() and given.isdigit() and len(given) <= DIGITS):
        raise click.BadParameter(f"“{given}” is neither a whole number nor “{AS_COLLECTION}”.", param_hint=option)
    return int(given)
