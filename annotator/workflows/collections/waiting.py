"""What waits for an organiser of a collection: open questions, undecided disputes, failed jobs.

The menu of every page shows these numbers, so they are counted from indexes, and disputes only in changed topics.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session, aliased

from annotator.storage import Job, JobState, Question
from annotator.storage.agreement.adjudication_queue import undecided_among, undecided_in_topics
from annotator.storage.collections.collection import find_collection
from annotator.storage.leaderboard.scored_state import items_judged_since, latest_judgement
from annotator.storage.topics.revisions import Revision, revisions

# How many collections a process keeps the disputes of.
MOST_KEPT = 64


@dataclass(frozen=True)
class Waiting:
    """Numbers of questions without an answer, undecided disputes, and failed jobs without a later success."""

    questions: int
    disputes: int
    failed_jobs: int

    @property
    def total(self) -> int:
        """The sum of all numbers."""
        return self.questions + self.disputes + self.failed_jobs


class _Counted(NamedTuple):
    """The pool items of a topic with undecided disputes, at this revision and after this last judgement."""

    revision: Revision
    latest: int | None  # as `latest_judgement` gives it
    undecided: frozenset[int] = frozenset()

    def is_continued(self, present: Revision, latest: int | None) -> bool:
        """Whether judgements with greater ids, up to `latest`, are the only changes up to this revision."""
        is_in_order = self.latest is not None and latest is not None and self.latest <= latest
        return is_in_order and self.revision.is_continued_by(present)


class DisputeMemory:
    """Cache of the undecided disputes by topic; of a topic with new judgements only their documents are read again.

    Entries are replaced and never changed in place, so that concurrent requests may read them.
    """

    def __init__(self) -> None:
        """Create an empty cache."""
        self._kept: dict[int, Mapping[int, _Counted]] = {}

    def undecided(self, session: Session, collection_id: int) -> int:
        """The number of documents of accepted topics on which judges differ and no adjudicator decided."""
        present = revisions(session, collection_id)
        kept = self._kept.get(collection_id, {})
        now = {id_: kept[id_] for id_ in present.keys() & kept.keys()}
        # Without judgements a topic has no revision, and no disputes.
        stale = {
            id_: revision
            for id_, revision in present.items()
            if revision.total and (id_ not in kept or kept[id_].revision != revision)
        }
        if stale:
            now |= _count(session, stale, kept)
        self._kept.pop(collection_id, None)  # reinsert at the end: least recently used entries are evicted first
        self._kept[collection_id] = now
        for oldest in list(self._kept)[:-MOST_KEPT]:
            self._kept.pop(oldest, None)
        return sum(len(counted.undecided) for counted in now.values())


def _count(session: Session, stale: Mapping[int, Revision], kept: Mapping[int, _Counted]) -> dict[int, _Counted]:
    """Read the disputes of these topics: the whole topic, or the documents judged since it was read last."""
    latest = latest_judgement(session)
    earlier = {id_: kept[id_] for id_, present in stale.items() if id_ in kept}
    since = {
        id_: one.latest
        for id_, one in earlier.items()
        if one.latest is not None and one.is_continued(stale[id_], latest)
    }
    judged = items_judged_since(session, since)
    again = undecided_among(session, {item for items in judged.values() for item in items})
    whole = undecided_in_topics(session, stale.keys() - judged.keys())
    found = whole | {
        id_: earlier[id_].undecided.difference(items) | again.get(id_, frozenset()) for id_, items in judged.items()
    }
    return {id_: _Counted(revision, latest, found.get(id_, frozenset())) for id_, revision in stale.items()}


def waiting(session: Session, slug: str, memory: DisputeMemory | None = None) -> Waiting:
    """Count what waits in a collection; raises `NotFoundError` for an unknown one.

    Without a memory all topics are compared, which takes 30 ms for 50,000 judgements; with one, 2 ms.
    """
    id_ = find_collection(session, slug).id
    questions = (
        select(func.count()).select_from(Question).where(Question.collection_id == id_, Question.answered_at.is_(None))
    )
    later = aliased(Job)
    succeeded = exists().where(
        later.collection_id == id_, later.kind == Job.kind, later.id > Job.id, later.state == JobState.DONE
    )
    # A refused file or page is for the person who sent or asked for it.
    is_refused = Job.result["status"].as_string().is_not(None)
    failed = select(func.count()).where(Job.collection_id == id_, Job.state == JobState.FAILED, ~is_refused, ~succeeded)
    return Waiting(
        questions=session.scalars(questions).one(),
        disputes=(memory or DisputeMemory()).undecided(session, id_),
        failed_jobs=session.scalars(failed).one(),
    )
