"""Machine judges that this site runs: their versions, runs, responses and what got no label."""

from collections.abc import Collection as SizedIterable
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import ColumnElement, delete, exists, func, or_, select, update
from sqlalchemy.orm import Session

from annotator.errors import NotFoundError, Sentence
from annotator.storage.site.bulk_insert import chunks, ids_as_rows
from annotator.storage.tables.collections import SHOWN, Collection, CollectionState
from annotator.storage.tables.documents import Document
from annotator.storage.tables.judging import CURRENT, OF_PEOPLE, Judgement
from annotator.storage.tables.machine_judging import (
    MachineJudge,
    MachineOutcome,
    MachineResponse,
    MachineRun,
    MachineRunState,
    OutcomeKind,
)
from annotator.storage.tables.people import User
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import Topic

# A worker renews it far more often.
LEASE = timedelta(seconds=60)


class JudgedText(NamedTuple):
    """A pooled document with its text."""

    document_id: int
    docno: str
    title: str
    body: str


@dataclass(frozen=True)
class StoredResponse:
    """A response as it is stored; probabilities in the order of the scale, empty if unknown."""

    text: str
    probabilities: tuple[float, ...]
    finish: str = ""
    sent: int = 0
    received: int = 0


class NewResponse(NamedTuple):
    """A response to store, to the request of this digest, which was for this document first."""

    digest: str
    topic_id: int
    document_id: int
    response: StoredResponse


class OutcomeRow(NamedTuple):
    """A document without a label: why, and the response to its first request, if there is one."""

    topic: str
    docno: str
    kind: OutcomeKind
    problem: Sentence
    response: str | None
    attempts: int
    next_at: datetime | None


def versions_of(session: Session, collection_id: int, name: str | None = None) -> list[tuple[MachineJudge, str]]:
    """The versions of a collection's machine judges, or of one, each with the name of its judge, by name and number."""
    named = [] if name is None else [MachineJudge.name == name]
    rows = session.execute(
        select(MachineJudge, User.name)
        .join(User, User.id == MachineJudge.user_id)
        .where(MachineJudge.collection_id == collection_id, *named)
        .order_by(MachineJudge.name, MachineJudge.version)
    )
    return [(judge, user) for judge, user in rows]


def find_version(
    session: Session, collection_id: int, name: str, number: int | None = None
) -> tuple[MachineJudge, str]:
    """A version of a machine judge, or the newest, with the name of its judge; raises `NotFoundError`."""
    versions = versions_of(session, collection_id, name)
    found = versions[-1:] if number is None else [one for one in versions if one[0].version == number]
    if not versions:
        raise NotFoundError("There is no machine judge “%(name)s” in this collection.", name=name)
    if not found:
        raise NotFoundError(
            "The machine judge “%(name)s” has no version %(number)d, but 1 to %(newest)d.",
            name=name,
            number=number,
            newest=versions[-1][0].version,
        )
    return found[0]


def runs_of(session: Session, judge_ids: SizedIterable[int], *, most: int) -> list[tuple[MachineRun, str | None]]:
    """Runs of these versions, newest first, each with the name of the account that started it."""
    rows = session.execute(
        select(MachineRun, User.name)
        .outerjoin(User, User.id == MachineRun.started_by_id)
        .where(MachineRun.machine_judge_id.in_(judge_ids))
        .order_by(MachineRun.id.desc())
        .limit(most)
    )
    return [(run, name) for run, name in rows]


def last_run(session: Session, judge_id: int, *, lock: bool = False) -> MachineRun | None:
    """The newest run of a version; None without one."""
    newest = select(MachineRun).where(MachineRun.machine_judge_id == judge_id).order_by(MachineRun.id.desc()).limit(1)
    return session.scalar(newest.with_for_update() if lock else newest)


def count_documents(session: Session, topic_ids: SizedIterable[int], *, judged: bool) -> tuple[int, int]:
    """How many pooled documents of these topics have a text, and how many have none."""
    row = session.execute(
        select(func.count(Document.body), func.count())
        .select_from(PoolItem)
        .join(Document, Document.id == PoolItem.document_id)
        .where(PoolItem.topic_id.in_(topic_ids), *_judged(judged))
    ).one()
    return row[0], row[1] - row[0]


def judged_pairs(session: Session, topic_ids: SizedIterable[int]) -> list[tuple[int, int]]:
    """Topic and document ids of the pooled documents with a text that people have graded, in order."""
    rows = session.execute(
        select(PoolItem.topic_id, PoolItem.document_id)
        .join(Document, Document.id == PoolItem.document_id)
        .where(PoolItem.topic_id.in_(topic_ids), Document.body.is_not(None), *_judged(judged=True))
        .order_by(PoolItem.topic_id, PoolItem.document_id)
    )
    return [(topic, document) for topic, document in rows]


def texts_after(
    session: Session,
    topic_id: int,
    after: int,
    *,
    most: int,
    judged: bool = False,
    among: Sequence[int] | None = None,
) -> list[JudgedText]:
    """Pooled documents of a topic that have a text, by id, the first `most` behind `after`, or only those `among`."""
    wanted: list[ColumnElement[bool]] = [PoolItem.topic_id == topic_id, PoolItem.document_id > after]
    wanted += [] if among is None else [PoolItem.document_id.in_(among)]
    rows = session.execute(
        select(Document.id, Document.docno, Document.title, Document.body)
        .join(PoolItem, PoolItem.document_id == Document.id)
        .where(*wanted, Document.body.is_not(None), *_judged(judged))
        .order_by(PoolItem.document_id)
        .limit(most)
    )
    return [JudgedText(id_, docno, title, body or "") for id_, docno, title, body in rows]


def texts_among(session: Session, document_ids: Iterable[int], *, most: int) -> list[JudgedText]:
    """The first `most` by id of these documents that have a text, whether pooled or not."""
    rows = session.execute(
        select(Document.id, Document.docno, Document.title, Document.body)
        .where(Document.id.in_(ids_as_rows(session, document_ids)), Document.body.is_not(None))
        .order_by(Document.id)
        .limit(most)
    )
    return [JudgedText(id_, docno, title, body or "") for id_, docno, title, body in rows]


def count_texts(session: Session, document_ids: Iterable[int]) -> int:
    """How many of these documents have a text."""
    among = Document.id.in_(ids_as_rows(session, document_ids))
    return session.scalars(select(func.count()).where(among, Document.body.is_not(None))).one()


def due_runs(session: Session, *, now: datetime) -> list[int]:
    """Ids of the runs that a worker may go on with, that which waits longest first."""
    rows = session.scalars(
        select(MachineRun.id)
        .join(MachineJudge, MachineJudge.id == MachineRun.machine_judge_id)
        .join(Collection, Collection.id == MachineJudge.collection_id)
        .where(
            MachineRun.state == MachineRunState.RUNNING,
            or_(MachineRun.paused_until.is_(None), MachineRun.paused_until <= now),
            or_(MachineRun.taken_until.is_(None), MachineRun.taken_until <= now),
            SHOWN,
            Collection.state != CollectionState.CLOSED,
        )
        .order_by(MachineRun.moved_at.is_not(None), MachineRun.moved_at, MachineRun.id)
    )
    return list(rows)


def locked_run(session: Session, run_id: int) -> MachineRun | None:
    """A run, locked; None when it has been deleted."""
    wanted = select(MachineRun).where(MachineRun.id == run_id).with_for_update()
    return session.scalar(wanted, execution_options={"populate_existing": True})


def stored_responses(session: Session, collection_id: int, digests: Iterable[str]) -> dict[str, StoredResponse]:
    """Digest → response, for the requests among these that were answered."""
    found: dict[str, StoredResponse] = {}
    for some in chunks(list(digests)):
        rows = session.scalars(
            select(MachineResponse).where(
                MachineResponse.collection_id == collection_id, MachineResponse.request_digest.in_(some)
            )
        )
        found |= {
            row.request_digest: StoredResponse(
                row.text,
                tuple(row.probabilities.get("of", ())),
                row.finish,
                row.tokens_sent,
                row.tokens_received,
            )
            for row in rows
        }
    return found


def add_responses(
    session: Session, collection_id: int, judge_id: int, new: Sequence[NewResponse], *, at: datetime
) -> list[StoredResponse]:
    """Store responses to requests that have none yet, about documents that are still there; returns those stored."""
    known = stored_responses(session, collection_id, [one.digest for one in new])
    still = _still_there(session, new)
    stored = []
    for one in new:
        if one.digest in known or one.document_id not in still:
            continue
        response = one.response
        known[one.digest] = response
        stored.append(response)
        session.add(
            MachineResponse(
                collection_id=collection_id,
                request_digest=one.digest,
                machine_judge_id=judge_id,
                topic_id=one.topic_id,
                document_id=one.document_id,
                text=response.text,
                finish=response.finish,
                probabilities={"of": list(response.probabilities)} if response.probabilities else {},
                tokens_sent=response.sent,
                tokens_received=response.received,
                received_at=at,
            )
        )
    session.flush()
    return stored


def due_deferred(session: Session, judge_id: int, *, now: datetime, most: int) -> tuple[int, list[int]] | None:
    """The documents of one topic that are to be tried again now; None when there are none."""
    wanted = (MachineOutcome.machine_judge_id == judge_id, MachineOutcome.kind == OutcomeKind.DEFERRED)
    rows = session.execute(
        select(MachineOutcome.topic_id, MachineOutcome.document_id)
        .where(*wanted, MachineOutcome.next_at <= now)
        .order_by(MachineOutcome.topic_id, MachineOutcome.document_id)
        .limit(most)
    ).all()
    return (rows[0][0], [document for topic, document in rows if topic == rows[0][0]]) if rows else None


def give_up_due(session: Session, judge_id: int, *, now: datetime) -> int:
    """Try the documents that are due not again; returns their number."""
    due = update(MachineOutcome).where(
        MachineOutcome.machine_judge_id == judge_id,
        MachineOutcome.kind == OutcomeKind.DEFERRED,
        MachineOutcome.next_at <= now,
    )
    given_up = due.values(kind=OutcomeKind.FAILED.value, next_at=None).returning(MachineOutcome.document_id)
    return len(session.scalars(given_up).all())


def next_deferred(session: Session, judge_id: int) -> datetime | None:
    """When the next document is tried again; None when none is deferred."""
    return session.scalar(
        select(func.min(MachineOutcome.next_at)).where(
            MachineOutcome.machine_judge_id == judge_id, MachineOutcome.kind == OutcomeKind.DEFERRED
        )
    )


def outcomes_among(
    session: Session, judge_id: int, topic_id: int, documents: Sequence[int]
) -> dict[int, MachineOutcome]:
    """Document id → what was recorded for a document without a label, for those among these."""
    found: dict[int, MachineOutcome] = {}
    for some in chunks(list(documents)):
        rows = session.scalars(
            select(MachineOutcome).where(
                MachineOutcome.machine_judge_id == judge_id,
                MachineOutcome.topic_id == topic_id,
                MachineOutcome.document_id.in_(some),
            )
        )
        found |= {row.document_id: row for row in rows}
    return found


def forget_deferred(session: Session, judge_id: int) -> None:
    """Delete what an earlier run deferred."""
    wanted = (MachineOutcome.machine_judge_id == judge_id, MachineOutcome.kind == OutcomeKind.DEFERRED)
    session.execute(delete(MachineOutcome).where(*wanted))


def count_outcomes(session: Session, judge_id: int) -> Mapping[OutcomeKind, int]:
    """The number of documents without a label, by kind."""
    rows = session.execute(
        select(MachineOutcome.kind, func.count())
        .where(MachineOutcome.machine_judge_id == judge_id)
        .group_by(MachineOutcome.kind)
    )
    return dict.fromkeys(OutcomeKind, 0) | {OutcomeKind(kind): count for kind, count in rows}


def list_outcomes(
    session: Session, judge: MachineJudge, *, first: int = 0, most: int | None = None
) -> list[OutcomeRow]:
    """The documents without a label, by topic and docno, with the response to the first request of each."""
    rows = session.execute(
        select(MachineOutcome, Topic.number, Document.docno, MachineResponse.text)
        .join(Topic, Topic.id == MachineOutcome.topic_id)
        .join(Document, Document.id == MachineOutcome.document_id)
        .outerjoin(
            MachineResponse,
            (MachineResponse.request_digest == MachineOutcome.request_digest)
            & (MachineResponse.collection_id == judge.collection_id),
        )
        .where(MachineOutcome.machine_judge_id == judge.id)
        .order_by(Topic.number, Document.docno)
        .offset(first)
        .limit(most)
    )
    return [
        OutcomeRow(
            number,
            docno,
            OutcomeKind(row.kind),
            Sentence(row.problem, row.problem_values),
            text,
            row.attempts,
            row.next_at,
        )
        for row, number, docno, text in rows
    ]


def docnos_of(session: Session, document_ids: Iterable[int]) -> dict[int, str]:
    """Document id → docno."""
    found: dict[int, str] = {}
    for some in chunks(sorted(document_ids)):
        found |= {
            id_: docno
            for id_, docno in session.execute(select(Document.id, Document.docno).where(Document.id.in_(some)))
        }
    return found


def _judged(judged: bool) -> list[ColumnElement[bool]]:  # noqa: FBT001 - of a query's conditions
    """The condition that people have graded a pool item, if it is wanted."""
    graded = exists().where(Judgement.pool_item_id == PoolItem.id, CURRENT, Judgement.grade.is_not(None), OF_PEOPLE)
    return [graded] if judged else []


def _still_there(session: Session, new: Sequence[NewResponse]) -> set[int]:
    """The documents whose row and whose topic have not been deleted."""
    topics = set(session.scalars(select(Topic.id).where(Topic.id.in_({one.topic_id for one in new}))))
    wanted = [one.document_id for one in new if one.topic_id in topics]
    return set(session.scalars(select(Document.id).where(Document.id.in_(ids_as_rows(session, wanted)))))
