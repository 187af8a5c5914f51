"""`annotator collections`: evaluation exercises."""

from dataclasses import replace
from datetime import UTC, datetime

import click

from annotator.cli import archive
from annotator.cli.argument_text import FILE
from annotator.cli.collection_quality import quality
from annotator.cli.consensus_options import consensus_help, describes_consensus
from annotator.cli.deeds import note
from annotator.cli.input_files import read_text
from annotator.cli.installation import Installation, on_installation
from annotator.cli.queue_options import describes_queue
from annotator.cli.tables import show_table
from annotator.storage import Role, ScoresShown
from annotator.workflows import collection, members, queue_settings, submissions
from annotator.workflows.collection import CollectionChange, CollectionView
from annotator.workflows.queue_settings import QueueChange
from annotator.workflows.submissions import SubmissionChange

scale_help = "The grades, such as “0=Not relevant,1=Relevant,2=Highly relevant”."
judgements_help = "How many judges each document wants."
until_help = (
    "Participants send runs before this moment: “2026-05-01 23:59”, UTC unless a zone follows; “none” ends that."
)
release_help = "From when on, as “2026-05-01 23:59” with a zone behind it if it is not UTC; or now."
SEEN = {
    ScoresShown.OWN: "the scores of their runs",
    ScoresShown.BESIDE: "the scores of their runs, beside the median and the best of all",
    ScoresShown.WHOLE: "the whole leaderboard with names",
}


@click.group
def command() -> None:
    """Collections: add, list, show, change, release scores, close; whether one is good."""


command.add_command(quality)
for further in (archive.export, archive.import_file, archive.copy):
    command.add_command(further)


@command.command("add")
@click.argument("slug")
@click.option("--title", required=True)
@click.option("--scale", required=True, help=scale_help)
@click.option("--relevant-from", default=1, show_default=True, metavar="GRADE", help="The least relevant grade.")
@click.option("--judgements", default=1, show_default=True, metavar="N", help=judgements_help)
@click.option(
    "--consensus", default="adjudicated-else-majority", show_default=True, metavar="POLICY", help=consensus_help
)
@describes_queue
@click.option("--organiser", metavar="NAME", help="The user who is to run it.")
@on_installation
def add(
    installation: Installation,
    slug: str,
    title: str,
    scale: str,
    relevant_from: int,
    judgements: int,
    consensus: str,
    organiser: str | None,
    *,
    queue: QueueChange,
) -> None:
    """Begin an evaluation exercise under a short name."""
    now = datetime.now(UTC)
    with installation.database.transaction() as session:
        collection.add_collection(
            session,
            slug,
            title=title,
            scale=collection.read_scale(scale),
            relevant_from=relevant_from,
            judgements_wanted=judgements,
            consensus_policy=consensus,
            added_at=now,
        )
        if queue != QueueChange():
            queue_settings.change_queue(session, slug, queue)
        if organiser is not None:
            members.add_member(session, slug, organiser, Role.ORGANISER, added_at=now)
            note(session, "members.add", slug, subject=organiser, details={"role": Role.ORGANISER})
        note(session, "collections.add", slug)
    click.echo(f"Added the collection {slug}.", err=True)


@command.command("list")
@on_installation
def show(installation: Installation) -> None:
    """List the collections."""
    with installation.database.reading() as session:
        rows = collection.list_collections(session)
    show_table(
        ["COLLECTION", "STATE", "RELEVANT FROM", "JUDGEMENTS", "CONSENSUS", "TITLE", "SCALE"],
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
@on_installation
def show_one(installation: Installation, slug: str) -> None:
    """Show every setting of a collection."""
    with installation.database.reading() as session:
        row = collection.show_collection(session, slug)
    show_table(
        ["SETTING", "VALUE"],
        [
            ["title", row.title],
            ["state", "closed" if row.closed else "open"],
            ["scale", ", ".join(f"{grade.value}={grade.name}" for grade in row.scale)],
            ["relevant from", str(row.relevant_from)],
            ["judgements", str(row.judgements_wanted)],
            ["consensus", row.consensus_policy],
            ["in dispute", "left out" if row.leaves_out_disputed else "settled"],
            ["machines count", row.counts_machines],
            ["shown to adjudicators", "the grades" if row.shows_grades else "no grades"],
            ["judges search", row.judges_search],
            ["mode", row.judging_mode.value],
            ["overlap percent", str(row.overlap_share)],
            ["re-shown percent", str(row.reshow_share)],
            ["common documents", str(row.common_items)],
            ["submissions until", row.submissions_until],
            ["most documents a topic", str(row.most_documents)],
            ["scores released", row.scores_released_at],
            ["scores shown", row.scores_shown.value],
            ["terms", row.terms or None],
        ],
    )


@command.command("set")
@click.argument("slug")
@click.option("--title")
@click.option("--scale", help=scale_help)
@click.option("--relevant-from", type=int, metavar="GRADE", help="The least relevant grade.")
@click.option("--judgements", type=int, metavar="N", help=judgements_help)
@describes_consensus
@click.option("--judges-search/--no-judges-search", default=None, help="Whether judges search the corpus.")
@describes_queue
@click.option("--submissions-until", "until", metavar="WHEN", help=until_help)
@click.option("--terms", type=FILE, metavar="FILE", help="What participants accept first, in Markdown; empty: nothing.")
@click.option("--most-documents", type=int, metavar="N", help="More for a topic bring a run a warning.")
@on_installation
def change(
    installation: Installation,
    slug: str,
    title: str | None,
    scale: str | None,
    relevant_from: int | None,
    judgements: int | None,
    *,
    consensus: CollectionChange,
    judges_search: bool | None,
    queue: QueueChange,
    until: str | None,
    terms: str | None,
    most_documents: int | None,
) -> None:
    """Change what is given and leave the rest; a grade that was given cannot leave the scale.

    Whoever accepted other terms has to accept the new ones.
    """
    grades = None if scale is None else collection.read_scale(scale)
    wanted = replace(
        consensus,
        title=title,
        scale=grades,
        relevant_from=relevant_from,
        judgements_wanted=judgements,
        judges_search=judges_search,
    )
    rules = SubmissionChange(
        None if until is None else submissions.read_deadline(until),
        None if terms is None else read_text(terms),
        most_documents,
    )
    if (wanted, queue, rules) == (CollectionChange(), QueueChange(), SubmissionChange()):
        raise click.UsageError("Give at least one option: `annotator collections set --help` lists them.")
    with installation.database.transaction() as session:
        if wanted != CollectionChange():
            collection.change_collection(session, slug, wanted)
        if queue != QueueChange():
            queue_settings.change_queue(session, slug, queue)
        if rules != SubmissionChange():
            submissions.change_submissions(session, slug, rules)
        note(session, "collections.set", slug, details=vars(wanted) | vars(queue) | vars(rules))
    click.echo(f"Changed the collection {slug}.", err=True)


@command.command("release")
@click.argument("slug")
@click.option("--take-back", is_flag=True, help="Show participants no scores any more.")
@click.option("--early", is_flag=True, help="Release them although runs are still taken.")
@click.option("--show", "shown", type=click.Choice([one.value for one in ScoresShown]), help="How much they see.")
@click.option("--from", "moment", metavar="WHEN", help=release_help)
@on_installation
def release(
    installation: Installation, slug: str, *, take_back: bool, early: bool, shown: str | None, moment: str | None
) -> None:
    """Let participants see scores of runs that were uploaded before a moment, from that moment on.

    By --show they see the scores of their own runs (own), these beside the median and the best of all without names
    (beside, as usual), the whole leaderboard with names, too (whole), or nothing. What is not given stays as it was
    decided before; the moment is else the present one.
    """
    if take_back and (early or shown or moment):
        raise click.UsageError("--take-back stands alone.")
    at = datetime.now(UTC)
    with installation.database.transaction() as session:
        submissions.release_scores(
            session,
            slug,
            at=at,
            moment=None if moment is None else submissions.read_release_moment(moment) or at,
            shown=ScoresShown.NOTHING if take_back else ScoresShown(shown) if shown else None,
            early=early,
        )
        note(session, "scores.take-back" if take_back else "scores.release", slug, details={"shown": shown})
        row = collection.show_collection(session, slug)
    click.echo(_seen(row, at), err=True)


def _seen(row: CollectionView, at: datetime) -> str:
    """What participants see and when, in a line."""
    released = row.scores_released_at
    if released is None:
        return f"Participants of {row.slug} see no scores."
    since = "" if released <= at else f" from {submissions.write_deadline(released)} on"
    return f"Participants of {row.slug} see {SEEN[row.scores_shown]}{since}."


@command.command("close")
@click.argument("slug")
@click.option("--reopen", is_flag=True, help="Take imports, pools and judgements again.")
@on_installation
def close(installation: Installation, slug: str, *, reopen: bool) -> None:
    """Take no more imports, pools and judgements; pages and exports stay."""
    with installation.database.transaction() as session:
        if reopen:
            collection.reopen_collection(session, slug)
        else:
            collection.close_collection(session, slug)
        note(session, "collections.reopen" if reopen else "collections.close", slug)
    click.echo(f"The collection {slug} is {'open' if reopen else 'closed'}.", err=True)
