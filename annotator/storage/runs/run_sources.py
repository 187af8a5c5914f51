"""Sources of runs, and the runs that came from them."""

from collections.abc import Collection as Several
from datetime import datetime

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from annotator.errors import NotFoundError, Sentence
from annotator.storage.tables.collections import SHOWN, Collection
from annotator.storage.tables.people import Team, User
from annotator.storage.tables.runs import FetchedRun, Run, RunSource


def run_sources(session: Session, collection_id: int) -> list[tuple[RunSource, str | None, str | None]]:
    """The sources of a collection by name, each with the names of its team and of who saved it last."""
    rows = session.execute(
        select(RunSource, Team.name, User.name)
        .outerjoin(Team, Team.id == RunSource.team_id)
        .outerjoin(User, User.id == RunSource.set_by_id)
        .where(RunSource.collection_id == collection_id)
        .order_by(RunSource.name)
    )
    return [(source, team, user) for source, team, user in rows]


def stored_source(session: Session, collection_id: int, name: str) -> RunSource | None:
    """The source with that name; None when there is none."""
    return session.scalar(select(RunSource).where(RunSource.collection_id == collection_id, RunSource.name == name))


def delete_run_source(session: Session, source_id: int) -> None:
    """Delete a source; the runs that came from it stay."""
    session.execute(delete(FetchedRun).where(FetchedRun.source_id == source_id))
    session.execute(delete(RunSource).where(RunSource.id == source_id))


def runs_from_source(session: Session, source_id: int) -> list[Run]:
    """The runs that came from a source, withdrawn and replaced ones included, in order of upload."""
    came = select(FetchedRun.run_id).where(FetchedRun.source_id == source_id)
    return list(session.scalars(select(Run).where(Run.id.in_(came)).order_by(Run.id)))


def note_fetched(session: Session, source_id: int | None, run_ids: Several[int], *, at: datetime) -> None:
    """Record runs that came from a source, if from any; raises `NotFoundError` when it was removed meanwhile."""
    if source_id is None:
        return
    source = session.scalar(select(RunSource).where(RunSource.id == source_id).with_for_update())
    if source is None:
        raise NotFoundError("The source was removed while its run was fetched. Nothing was stored.")
    session.execute(insert(FetchedRun), [{"run_id": run_id, "source_id": source_id} for run_id in run_ids])
    source.fetched += len(run_ids)
    source.tried_at, source.problem, source.problem_values = at, "", {}


def note_problem(session: Session, source_id: int, problem: Sentence, *, at: datetime) -> None:
    """Record why nothing came from a source, if it is still there."""
    source = session.get(RunSource, source_id)
    if source is not None:
        source.tried_at, source.problem, source.problem_values = at, problem.template, dict(problem.values)


def due_sources(session: Session, now: datetime) -> list[tuple[RunSource, str]]:
    """The sources that are due, each with the slug of its collection, locked: another worker skips them."""
    rows = session.execute(
        select(RunSource, Collection.slug)
        .join(Collection, Collection.id == RunSource.collection_id)
        .where(SHOWN, RunSource.due_at <= now)
        .order_by(RunSource.due_at, RunSource.id)
        .with_for_update(of=RunSource, skip_locked=True)
    )
    return [(source, slug) for source, slug in rows]


def has_due_source(session: Session, now: datetime) -> bool:
    """Whether a source is due; takes no lock."""
    due = select(RunSource.id).join(Collection, Collection.id == RunSource.collection_id)
    return session.scalar(due.where(SHOWN, RunSource.due_at <= now).limit(1)) is not None
