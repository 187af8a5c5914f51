"""What the reports of a collection that score its runs or compare its judges are made from, in short.

They read every judgement and every ranked list, which takes up to a second; this reads small tables alone. What they
need of the large ones changes with something that stands here:

- judgements, assignments and pool items, and documents found by searching: the revision of their topic;
- ranked lists: the run, which is never changed, only withdrawn or replaced by another;
- strata, and contributions of runs and of files: the version of the pool, or the choices that an adaptive one has made;
- the grades of a kept version of the qrels: that version;
- the names of documents: the judgements, since no document that is judged is deleted;
- all of these: the deletions, made and taken back.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from annotator.storage.site.bulk_insert import fetch_rows
from annotator.storage.tables.collections import Collection, Deletion, Grade
from annotator.storage.tables.people import MACHINES, Team, User
from annotator.storage.tables.pools import Pool, SelectionEvent
from annotator.storage.tables.qrels import QrelsVersion
from annotator.storage.tables.runs import Run
from annotator.storage.tables.topics import Topic, TopicRevision


def report_state(session: Session, collection: Collection) -> bytes:
    """A digest that is another one after every change that such a report can show.

    What was done in other collections changes it only where it concerns accounts.
    """
    digest = hashlib.sha256()
    for statement in _statements(collection.id):
        digest.update(repr([tuple(row) for row in fetch_rows(session, statement)]).encode())
    return digest.digest()


def _statements(collection_id: int) -> Iterator[Select[*tuple[Any, ...]]]:
    """The small tables, each in a fixed order."""
    yield select(Collection.__table__).where(Collection.id == collection_id)
    yield select(Grade.__table__).where(Grade.collection_id == collection_id).order_by(Grade.value)
    own_topics = Topic.collection_id == collection_id
    yield select(Topic.id, Topic.number, Topic.state, Topic.owner_id).where(own_topics).order_by(Topic.id)
    yield (
        select(TopicRevision.topic_id, func.sum(TopicRevision.revision))
        .join(Topic, Topic.id == TopicRevision.topic_id)
        .where(own_topics)
        .group_by(TopicRevision.topic_id)
        .order_by(TopicRevision.topic_id)
    )
    yield (
        select(Run.id, Run.tag, Team.name, Run.round_id, Run.withdrawn_at, Run.replaced_at)
        .outerjoin(Team, Team.id == Run.team_id)
        .where(Run.collection_id == collection_id)
        .order_by(Run.id)
    )
    own_pools = Pool.collection_id == collection_id
    yield (
        select(Pool.id, Pool.version, Pool.built_at, func.count(SelectionEvent.step))
        .outerjoin(SelectionEvent, SelectionEvent.pool_id == Pool.id)
        .where(own_pools)
        .group_by(Pool.id, Pool.version, Pool.built_at)
        .order_by(Pool.id)
    )
    yield (
        select(QrelsVersion.id, QrelsVersion.number, QrelsVersion.policy, QrelsVersion.fingerprint)
        .where(QrelsVersion.collection_id == collection_id)
        .order_by(QrelsVersion.id)
    )
    yield (
        select(Deletion.id, Deletion.restored_at, Deletion.removed_at)
        .where(Deletion.collection_id == collection_id)
        .order_by(Deletion.id)
    )
    yield select(User.id, User.name).order_by(User.id)
    facts = (User.id, User.kind, User.model, User.prompt, User.labelled_on)
    yield select(*facts).where(User.id.in_(MACHINES)).order_by(User.id)
