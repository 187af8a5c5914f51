"""`annotator collections`: create, list, show and change collections."""

from dataclasses import replace
from datetime import UTC, datetime

import click

from annotator.cli.collections import archive, deletions, public_pages, publish, score_release, shared_files
from annotator.cli.collections.options import (
    consensus_help,
    describes_consensus,
    describes_queue,
    describes_submissions,
)
from annotator.cli.collections.reusability import quality
from annotator.cli.site.installation import Installation, note, on_installation
from annotator.cli.site.tables import format_option, show_rows, show_values
from annotator.storage import JudgingMode, Role
from annotator.storage.tables.collections import DEFAULT_POLICIES, CollectionKind
from annotator.workflows.collections import collection
from annotator.workflows.collections.collection import CollectionChange
from annotator.workflows.collections.collection_list import list_collections
from annotator.workflows.collections.queue_settings import QueueChange, foresee_queue
from annotator.workflows.runs import run_rules, submissions
from annotator.workflows.runs.submissions import SubmissionChange

scale_help = "The grades, such as “0=Not relevant,1=Relevant,2=Highly relevant”."
judgements_help = "Judgements per document."
KINDS = [kind.value for kind in CollectionKind]
kind_help = (
    f"{CollectionKind.SHARED_TASK}: teams send runs; {CollectionKind.COMPARISON}: a team compares its own systems."
)


@click.group
def command() -> None:
    """Collections: add, list, show, change, release scores, close; measure their quality."""


command.add_command(quality)
for further in (
    *(archive.export, archive.import_file, archive.copy, publish.publish, public_pages.pages),
    shared_files.files,
):
    command.add_command(further)


@command.command("add")
@click.argument("slug")
@click.option("--title", required=True, metavar="TEXT", help="What the collection is called on pages.")
@click.option(
    "--type",
    "kind",
    type=click.Choice(KINDS),
    default=CollectionKind.SHARED_TASK.value,
    show_default=True,
    help=kind_help,
)
@click.option("--scale", required=True, help=scale_help)
@click.option("--relevant-from", default=1, show_default=True, metavar="GRADE", help="The least relevant grade.")
@click.option("--judgements", default=1, show_default=True, metavar="N", help=judgements_help)
@click.option(
    "--consensus",
    metavar="POLICY",
    help=f"{consensus_help} [{DEFAULT_POLICIES[JudgingMode.SHARED]}; owned: {DEFAULT_POLICIES[JudgingMode.OWNED]}]",
)
@describes_queue
@click.option("--organiser", metavar="NAME", help="The account of the organiser.")
@on_installation
def add(
    installation: Installation,
    slug: str,
    title: str,
    kind: str,
    scale: str,
    relevant_from: int,
    judgements: int,
    consensus: str | None,
    organiser: str | None,
    *,
    queue: QueueChange,
) -> None:
    """Create an evaluation exercise under a short name."""
    with installation.database.transaction() as session:
        collection.add_collection(
            session,
            slug,
            title=title,
            kind=collection.read_kind(kind),
            scale=collection.read_scale(scale),
            relevant_from=relevant_from,
            judgements_wanted=judgements,
            consensus_policy=consensus,
            queue=queue if queue != QueueChange() else None,
            organiser=organiser,
            added_at=datetime.now(UTC),
        )
        if organiser is not None:
            note(session, "members.add", slug, subject=organiser, details={"role": Role.ORGANISER})
        note(session, "collections.add", slug, details={"kind": collection.read_kind(kind)})
    click.echo(f"Added the collection {slug}.", err=True)


@command.command("list")
@format_option()
@on_installation
def show(installation: Installation, format_: str) -> None:
    """List the collections."""
    rows = installation.database.read(list_collections)
    show_rows(
        format_,
        ["COLLECTION", "STATE", "RELEVANT FROM", "JUDGEMENTS WANTED", "CONSENSUS", "TITLE", "SCALE"],
        [
            [
                row.slug,
                "closed" if row.closed else "open",
                row.relevant_from,
                row.judgements_wanted,
                row.consensus_policy,
                row.title,
                ", ".join(f"{grade.value}={grade.name}" for grade in row.scale),
            ]
            for row in rows
        ],
    )


@command.command("show")
@click.argument("slug")
@format_option()
@on_installation
def show_one(installation: Installation, slug: str, format_: str) -> None:
    """Show every setting of a collection."""
    row = installation.database.read(collection.show_collection, slug)
    show_values(
        format_,
        ("SETTING", "VALUE"),
        {
            "title": row.title,
            "type": row.kind.value,
            "state": "closed" if row.closed else "open",
            "scale": ", ".join(f"{grade.value}={grade.name}" for grade in row.scale),
            "relevant from": row.relevant_from,
            "judgements": row.judgements_wanted,
            "consensus": row.consensus_policy,
            "in dispute": "left out" if row.leaves_out_disputed else "settled",
            "machines count": row.counts_machines,
            "shown to adjudicators": "the grades" if row.shows_grades else "no grades",
            "judges search": row.judges_search,
            "pay per hour": None if row.pay_per_hour is None else f"{row.pay_per_hour:g} {row.pay_currency}",
            "judges compare": row.judges_compare,
            "words highlighted": row.judges_highlight,
            "mode": row.judging_mode.value,
            "overlap percent": row.overlap_share,
            "re-shown percent": row.reshow_share,
            "common documents": row.common_items,
            "submissions until": row.submissions_until,
            "deadline as written": row.submissions_until_written or None,
            "most documents a topic": row.most_documents,
            "tags begin with": row.tag_start or None,
            "longest tag": row.most_tag_characters,
            "plain tags": row.plain_tags,
            "most runs of a team": row.most_runs or None,
            "docnos shared": row.shares_docnos,
            "qrels shared": row.shares_qrels,
            "scores released": row.scores_released_at,
            "scores shown": row.scores_shown.value,
            "scores computed from": score_release.released_grades(row),
            "terms": row.terms or None,
            "corpus": row.corpus or None,
        },
    )


@command.command("set")
@click.argument("slug")
@click.option("--title", metavar="TEXT", help="What the collection is called on pages.")
@click.option("--type", "kind", type=click.Choice(KINDS), help=kind_help)
@click.option("--scale", help=scale_help)
@click.option("--relevant-from", type=int, metavar="GRADE", help="The least relevant grade.")
@click.option("--judgements", type=int, metavar="N", help=judgements_help)
@describes_consensus
@click.option("--judges-search/--no-judges-search", default=None, help="Whether judges can search the corpus.")
@click.option(
    "--pay",
    metavar="RATE",
    help="What a judge is paid per hour, such as '20 EUR': prices are shown beside hours. 0: not stated.",
)
@click.option(
    "--judges-compare/--no-judges-compare",
    default=None,
    help="Whether judges can open their own judgements of similar documents beside a document.",
)
@click.option(
    "--judges-highlight/--no-judges-highlight",
    default=None,
    help="Whether words of the topic, and those that a judge chooses, are highlighted in documents.",
)
@describes_queue
@describes_submissions
@on_installation
def change(
    installation: Installation,
    slug: str,
    title: str | None,
    kind: str | None,
    scale: str | None,
    relevant_from: int | None,
    judgements: int | None,
    *,
    consensus: CollectionChange,
    judges_search: bool | None,
    pay: str | None,
    judges_compare: bool | None,
    judges_highlight: bool | None,
    queue: QueueChange,
    rules: SubmissionChange,
) -> None:
    """Change the given settings and keep the others; a grade that has been used cannot be removed from the scale.

    After a change of the terms, people have to accept them again.
    """
    wanted = replace(
        consensus,
        title=title,
        kind=None if kind is None else collection.read_kind(kind),
        scale=None if scale is None else collection.read_scale(scale),
        relevant_from=relevant_from,
        judgements_wanted=judgements,
        judges_search=judges_search,
        **({} if pay is None else collection.read_pay(pay)),
        judges_compare=judges_compare,
        judges_highlight=judges_highlight,
    )
    if (wanted, queue, rules) == (CollectionChange(), QueueChange(), SubmissionChange()):
        raise click.UsageError("Give at least one option: `annotator collections set --help` lists them.")
    foreseen = installation.database.read(foresee_queue, slug, queue, judgements_wanted=judgements)
    with installation.database.transaction() as session:
        policy = submissions.change_settings(session, slug, wanted, queue, rules, foreseen=foreseen)
        details = vars(wanted) | {"consensus_policy": policy} | vars(queue) | rules.details()
        note(session, "collections.set", slug, details=details)
    click.echo(f"Changed the collection {slug}.", err=True)
    for start, teams in installation.database.read(run_rules.teams_with_one_start, slug).items():
        click.echo(f"Tags of several teams begin with “{start}”: {', '.join(teams)}.", err=True)


@command.command("close")
@click.argument("slug")
@on_installation
def close(installation: Installation, slug: str) -> None:
    """Accept no more imports, pools and judgements; pages and exports stay available."""
    with installation.database.transaction() as session:
        collection.close_collection(session, slug)
        note(session, "collections.close", slug)
    click.echo(f"The collection {slug} is closed.", err=True)


@command.command("reopen")
@click.argument("slug")
@on_installation
def reopen(installation: Installation, slug: str) -> None:
    """Accept imports, pools and judgements again."""
    with installation.database.transaction() as session:
        collection.reopen_collection(session, slug)
        note(session, "collections.reopen", slug)
    click.echo(f"The collection {slug} is open.", err=True)


command.add_command(score_release.release)
command.add_command(score_release.withhold)
command.add_command(deletions.remove_collection, "remove")
command.add_command(deletions.restore_collection, "restore")
