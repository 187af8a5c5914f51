"""`annotator collections release` and `withhold`: which scores participants see, from when, and by which qrels."""

from datetime import UTC, datetime

import click

from annotator.cli.site.installation import Installation, note, on_installation
from annotator.storage import ScoresShown
from annotator.storage.qrels.qrels_versions import LIVE
from annotator.workflows.collections import collection
from annotator.workflows.collections.collection import CollectionView
from annotator.workflows.qrels import qrels_versions
from annotator.workflows.qrels.qrels import export_qrels
from annotator.workflows.qrels.qrels_sharing import shared_by_release
from annotator.workflows.qrels.qrels_versions import ReleaseRequest
from annotator.workflows.runs import submissions

moment_help = "Release at this time, as “2026-05-01 23:59”, in UTC unless a zone follows; or now."
qrels_help = (
    "Compute the scores from this kept version of the qrels; or new: keep the current grades as a version. "
    "[first release: new]"
)
SEEN = {
    ScoresShown.OWN: "the scores of their runs",
    ScoresShown.BESIDE: "the scores of their runs, beside the worst, the median and the best of all",
    ScoresShown.WHOLE: "the whole leaderboard with names",
}


@click.command
@click.argument("slug")
@click.option("--early", is_flag=True, help="Release the scores although the submission of runs is still open.")
@click.option(
    "--show", "shown", type=click.Choice([one.value for one in ScoresShown]), help="How much participants see."
)
@click.option("--from", "moment", metavar="WHEN", help=moment_help)
@click.option("--qrels", metavar="GRADES", help=qrels_help)
@click.option("--live", is_flag=True, help="Compute the scores from the live grades each time participants look.")
@on_installation
def release(
    installation: Installation,
    slug: str,
    *,
    early: bool,
    shown: str | None,
    moment: str | None,
    qrels: str | None,
    live: bool,
) -> None:
    """Let participants see the scores of runs uploaded before a deadline, from a release time on.

    --show sets what they see: the scores of their own runs (own), these with the worst, median and best of all without
    names (beside, the default), the whole leaderboard with names (whole), or nothing. The scores are computed from a
    kept version of the qrels, so that later judgements, decisions and settings do not change them. Options that are not
    given keep their earlier value; the first release is at the current time, from a new version of the qrels, also when
    the release is set for later.
    """
    if live and qrels is not None:
        raise click.UsageError("--qrels names a version, --live none: give one of them.")
    at = datetime.now(UTC)
    wanted = LIVE if live else qrels
    how_much = ScoresShown(shown) if shown else None
    with installation.database.reading() as session:
        released_at = collection.show_collection(session, slug).scores_released_at
        keeps = submissions.keeps_version(wanted, how_much, released_at)
        made = export_qrels(session, slug, to_keep=True, made_at=at) if keeps else None
    since = None if moment is None else submissions.read_release_moment(moment) or at
    request = ReleaseRequest(since, how_much, wanted, early)
    storing = qrels_versions.storing_for_release(installation.database, slug, made)
    with storing as stored, installation.database.transaction() as session:
        done = qrels_versions.release_scores(session, slug, request, stored, by_id=None, at=at)
        if done.new_version is not None:
            note(session, "qrels.keep", slug, subject=done.new_version)
        row = done.collection
        version = row.released_version and row.released_version.number
        details = {"shown": shown, "from": row.scores_released_at, "qrels": version}
        note(session, "scores.release", slug, details=details)
    for warning in made.warnings if made is not None else ():
        click.echo(str(warning), err=True)
    click.echo(_seen(row, at), err=True)
    if (of_qrels := shared_by_release(row, at=at)) is not None:
        click.echo(str(of_qrels), err=True)


@click.command
@click.argument("slug")
@on_installation
def withhold(installation: Installation, slug: str) -> None:
    """Stop showing scores to participants."""
    with installation.database.transaction() as session:
        submissions.take_scores_back(session, slug)
        note(session, "scores.take-back", slug)
    row = installation.database.read(collection.show_collection, slug)
    click.echo(_seen(row, datetime.now(UTC)), err=True)


def _seen(row: CollectionView, at: datetime) -> str:
    """One line on which scores participants see, and from when."""
    released = row.scores_released_at
    if released is None:
        return f"Participants of {row.slug} see no scores."
    since = "" if released <= at else f" from {submissions.write_deadline(released)} on"
    return f"Participants of {row.slug} see {SEEN[row.scores_shown]}{since}, computed from {released_grades(row)}."


def released_grades(row: CollectionView) -> str:
    """A description of the grades that released scores are computed from."""
    version = row.released_version
    if version is None:
        return "the grades of the moment (live)"
    return f"version {version.number} of the qrels, kept {submissions.write_deadline(version.kept_at)}"
