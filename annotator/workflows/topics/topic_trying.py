"""Trial of a draft topic by quick looks at the top of a search or a run; creates no judgements."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.qrels.topic_flags import Promise, promise_of
from annotator.evaluation.runs.rankings import DOCUMENT_BYTES, decode_documents
from annotator.storage import IN_FORCE, Document, QuickLook, RankedList, Run, Topic, TopicState, User
from annotator.storage.collections.collection import find_collection, find_open_collection, find_topic
from annotator.storage.documents.documents import docnos_of, document_ids

MOST_LOOKED_AT = 25
BEGINNING = 3_000  # characters of a text, including markup


@dataclass(frozen=True)
class Glance:
    """A document of a quick look, and this person's verdict; None: none yet."""

    docno: str
    title: str
    beginning: str | None
    language: str | None
    looks_relevant: bool | None


@dataclass(frozen=True)
class LookTally:
    """How many documents of a topic one person has looked at, and how many of them look relevant."""

    person: str
    looked: int
    relevant: int
    last_at: datetime

    @property
    def promise(self) -> Promise:
        """What the counts predict for the topic."""
        return promise_of(self.looked, self.relevant)


def runs_to_try(session: Session, slug: str, number: str) -> list[str]:
    """The tags of the active runs with results for a topic."""
    topic = find_topic(session, find_collection(session, slug).id, number)
    tags = session.scalars(
        select(Run.tag)
        .join(RankedList, RankedList.run_id == Run.id)
        .where(Run.collection_id == topic.collection_id, RankedList.topic_id == topic.id, IN_FORCE)
    )
    return sorted(tags, key=natural_order)


def top_of_run(session: Session, slug: str, number: str, tag: str) -> list[str]:
    """The docnos of a run's top documents for a topic, best first; `NotFoundError` when it has none."""
    collection = find_collection(session, slug)
    topic = find_topic(session, collection.id, number)
    packed = session.scalar(
        select(func.substr(RankedList.documents, 1, MOST_LOOKED_AT * DOCUMENT_BYTES))
        .join(Run, Run.id == RankedList.run_id)
        .where(Run.collection_id == collection.id, Run.tag == tag, RankedList.topic_id == topic.id, IN_FORCE)
    )
    if packed is None:
        raise NotFoundError("No active run “%(tag)s” has documents for topic “%(number)s”.", tag=tag, number=number)
    documents = decode_documents(packed).tolist()
    docnos = docnos_of(session, documents)
    return [docnos[document] for document in documents]


def glance_at(session: Session, slug: str, number: str, docnos: Sequence[str], looked_by_id: int) -> list[Glance]:
    """The beginnings of these documents, in this order, with the person's earlier verdicts."""
    collection = find_collection(session, slug)
    topic = find_topic(session, collection.id, number)
    ids = document_ids(session, collection.id, docnos)
    rows = session.execute(
        select(
            Document.docno,
            Document.title,
            func.substr(Document.body, 1, BEGINNING),
            Document.language,
            QuickLook.looks_relevant,
        )
        .outerjoin(
            QuickLook,
            (QuickLook.document_id == Document.id)
            & (QuickLook.topic_id == topic.id)
            & (QuickLook.looked_by_id == looked_by_id),
        )
        .where(Document.id.in_(ids.values()))
    )
    glances = {row.docno: Glance(*row) for row in rows}
    return [glances[docno] for docno in docnos if docno in glances]


def record_look(
    session: Session,
    slug: str,
    number: str,
    docno: str,
    *,
    looks_relevant: bool,
    looked_by_id: int,
    looked_at: datetime,
) -> None:
    """Store whether a document looked relevant to a person, replacing their earlier verdict.

    Raises `ConflictError` when the topic is no draft, and `NotFoundError` for an unknown topic or document.
    """
    collection = find_open_collection(session, slug)
    topic = find_topic(session, collection.id, number)
    if topic.state != TopicState.DRAFT:
        raise ConflictError("Topic “%(number)s” is no draft any more: it was accepted or dropped.", number=number)
    document_id = document_ids(session, collection.id, [docno]).get(docno)
    if document_id is None:
        raise NotFoundError("There is no document “%(docno)s” in this collection.", docno=docno)
    # Serialises requests of a person from two tabs.
    session.execute(select(User.id).where(User.id == looked_by_id).with_for_update(key_share=True))
    look = session.scalar(
        select(QuickLook).where(
            QuickLook.topic_id == topic.id,
            QuickLook.document_id == document_id,
            QuickLook.looked_by_id == looked_by_id,
        )
    ) or QuickLook(topic_id=topic.id, document_id=document_id, looked_by_id=looked_by_id)
    look.looks_relevant = looks_relevant
    look.looked_at = looked_at
    session.add(look)
    session.flush()


def look_tallies(session: Session, slug: str) -> dict[str, list[LookTally]]:
    """Topic number → each person's counts, the latest first; only topics with a look."""
    rows = session.execute(
        select(
            Topic.number,
            User.name,
            func.count(),
            func.count().filter(QuickLook.looks_relevant),
            func.max(QuickLook.looked_at),
        )
        .select_from(QuickLook)
        .join(Topic, Topic.id == QuickLook.topic_id)
        .join(User, User.id == QuickLook.looked_by_id)
        .where(Topic.collection_id == find_collection(session, slug).id)
        .group_by(Topic.number, User.name)
    )
    tallies: dict[str, list[LookTally]] = {}
    for number, person, looked, relevant, last_at in rows:
        tallies.setdefault(number, []).append(LookTally(person, looked, relevant, last_at))
    return {
        number: sorted(of_topic, key=lambda tally: (tally.last_at, tally.person), reverse=True)
        for number, of_topic in tallies.items()
    }
