"""One evaluation exercise: its scale, its guidelines and its topics."""

import re
from collections.abc import Collection as Several
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from sqlalchemy import ColumnElement, ForeignKey, UniqueConstraint, and_, func, or_, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.storage.site.columns import NEVER_REUSED, Base, ByteOrdered

# TREC takes the first thousand documents a topic.
USUAL_MOST_DOCUMENTS = 1_000


class CollectionState(StrEnum):
    """Open collections take imports and judgements; closed ones only show and export."""

    OPEN = "open"
    CLOSED = "closed"


class ScoresShown(StrEnum):
    """What a participant sees of the scores once their moment has come."""

    NOTHING = "nothing"
    OWN = "own"  # the scores of the team's runs
    BESIDE = "beside"  # the same, each topic beside the median and the best of all runs, without names
    WHOLE = "whole"  # the same, and the leaderboard with the names of all runs


class TopicState(StrEnum):
    """What a topic is to everybody; the rest of the code asks by `ACCEPTED`.

    A draft is being tried out: organisers alone see it, and it is in no pool, qrels or mean, though runs may answer it.
    An accepted topic is shown, pooled, judged, settled and scored. A dropped one stays, marked, and its judgements
    go out as judgements; but nothing more of it is pooled or drawn, and it counts in no qrels, mean or agreement.
    """

    DRAFT = "draft"
    ACCEPTED = "accepted"
    DROPPED = "dropped"


class JudgingMode(StrEnum):
    """How the work is shared out: any judge draws from any topic, or each topic has an owner who judges all of it."""

    SHARED = "shared"
    OWNED = "owned"


# How several grades become one unless an organiser chooses. With owners the owner's grade counts, as at NIST, and what
# only others graded has the majority's. Otherwise of two judges who differ the first counts, so that a sample judged
# twice is graded as the documents judged once are.
DEFAULT_POLICIES: Mapping[JudgingMode, str] = {
    JudgingMode.SHARED: "adjudicated-else-majority-first",
    JudgingMode.OWNED: "adjudicated-else-owner-else-majority",
}
# The default of earlier versions, by which documents that the owner did not grade stay out. A collection that has it
# keeps it, until the work is shared out in another way.
EARLIER_DEFAULT_OWNED = "adjudicated-else-owner"


class Collection(Base):
    __tablename__ = "collection"

    id: Mapped[int] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(unique=True)
    title: Mapped[str]
    state: Mapped[str] = mapped_column(default=CollectionState.OPEN)
    # The least grade that counts as relevant for binary measures.
    relevant_from: Mapped[int]
    # How many judges each pool item wants, for items added from now on.
    judgements_wanted: Mapped[int]
    consensus_policy: Mapped[str]
    # What participants accept before they send a run; empty: nothing to accept.
    terms: Mapped[str] = mapped_column(default="")
    # Participants send and correct runs before this moment; None: at any time.
    submissions_until: Mapped[datetime | None]
    # As the organiser wrote it, with its zone; empty when nobody knows.
    submissions_until_written: Mapped[str] = mapped_column(default="")
    # From when on participants see scores, and which; None: they see none.
    scores_released_at: Mapped[datetime | None]
    scores_shown: Mapped[str] = mapped_column(default=ScoresShown.BESIDE)
    # The number of the kept version of the qrels that they are computed from; None: the grades of the moment.
    scores_qrels_version: Mapped[int | None]
    # A run that has more documents for a topic is taken with a warning.
    most_documents: Mapped[int] = mapped_column(default=USUAL_MOST_DOCUMENTS)
    # Whether judges may search the corpus and add what they find to the pool.
    judges_search: Mapped[bool] = mapped_column(default=False)
    judging_mode: Mapped[str] = mapped_column(default=JudgingMode.SHARED)
    # Of each topic, in percent: what a second judge sees, too, and what a judge sees again after a day.
    overlap_share: Mapped[int] = mapped_column(default=0)
    reshow_share: Mapped[int] = mapped_column(default=0)
    # How many documents of each topic every judge sees.
    common_items: Mapped[int] = mapped_column(default=0)
    # The percentage of the training that a judge must get right before real work; None: no training is asked for.
    pass_mark: Mapped[int | None]
    # Whether the grades of machines are settled into the qrels beside those of people.
    counts_machines: Mapped[bool] = mapped_column(default=False)
    # Whether an adjudicator sees the grades that differ; never whose they are.
    shows_grades: Mapped[bool] = mapped_column(default=False)
    # Whether documents whose judges differ stay out of the qrels until an adjudicator decides.
    leaves_out_disputed: Mapped[bool] = mapped_column(default=False)
    added_at: Mapped[datetime]
    # From then on nobody finds it by its short name; it can be restored for a while.
    deleted_at: Mapped[datetime | None]
    # While its archive comes in, batch by batch, nobody finds it either. Deleted as well, it goes for good.
    being_imported: Mapped[bool] = mapped_column(default=False)


class Grade(Base):
    __tablename__ = "grade"

    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"), primary_key=True)
    value: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    name: Mapped[str]
    description: Mapped[str]


class GuidelineVersion(Base):
    __tablename__ = "guideline_version"
    __table_args__ = (UniqueConstraint("collection_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    number: Mapped[int]
    text: Mapped[str]
    made_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    made_at: Mapped[datetime]


class Topic(Base):
    __tablename__ = "topic"
    __table_args__ = (UniqueConstraint("collection_id", "number"), NEVER_REUSED)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    number: Mapped[str] = mapped_column(ByteOrdered)
    title: Mapped[str]
    description: Mapped[str]
    narrative: Mapped[str]
    language: Mapped[str | None]
    state: Mapped[str] = mapped_column(default=TopicState.ACCEPTED)
    # Why it was dropped, in the organiser's words.
    reason: Mapped[str] = mapped_column(default="")
    # Who judges all of it where topics are owned.
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))


# Topics that count: what is pooled, drawn, settled into qrels, averaged and compared between judges.
ACCEPTED = Topic.state == TopicState.ACCEPTED
# Topics that whoever reads a result must know of, because they are missing from it.
DROPPED = Topic.state == TopicState.DROPPED


class QuickLook(Base):
    """How a document of a draft topic looked at a glance: it helps to choose topics and is no judgement."""

    __tablename__ = "quick_look"
    __table_args__ = (UniqueConstraint("topic_id", "document_id", "looked_by_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"))
    document_id: Mapped[int] = mapped_column(ForeignKey("document.id"))
    looks_relevant: Mapped[bool]
    looked_by_id: Mapped[int] = mapped_column(ForeignKey("user.id"))
    looked_at: Mapped[datetime]


# Collections that anybody finds.
SHOWN = and_(Collection.deleted_at.is_(None), Collection.being_imported.is_(False))
# In `Session.info`: the id of a collection that this session finds while it is being imported.
IMPORTED = "imported collection"


def find_collection(session: Session, slug: str) -> Collection:
    """The collection of that short name; `NotFoundError` when there is none."""
    is_found = or_(SHOWN, Collection.id == session.info[IMPORTED]) if IMPORTED in session.info else SHOWN
    collection = session.scalar(select(Collection).where(Collection.slug == slug, is_found))
    if collection is None:
        raise NotFoundError("There is no collection “%(slug)s”.", slug=slug)
    return collection


def refuse_unusable_slug(session: Session, slug: str) -> None:
    """Raise `InvalidValueError` for what is no short name, and `ConflictError` for one that is taken."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", slug):
        raise InvalidValueError(
            "“%(slug)s” is not a short name: up to 64 small letters, digits, “-”, “_” and “.”, not a sign first.",
            slug=slug,
        )
    state = select(Collection.deleted_at, Collection.being_imported).where(Collection.slug == slug)
    taken = session.execute(state).one_or_none()
    if taken is not None and taken.deleted_at is not None:
        raise ConflictError("The collection “%(slug)s” was deleted and can still be restored.", slug=slug)
    if taken is not None and taken.being_imported:
        raise ConflictError("The collection “%(slug)s” is being imported.", slug=slug)
    if taken is not None:
        raise ConflictError("There is a collection “%(slug)s” already.", slug=slug)


def find_open_collection(session: Session, slug: str) -> Collection:
    """The same, for whoever checks what could be changed; `ConflictError` when it is closed."""
    return _open(find_collection(session, slug))


def lock_collection(session: Session, slug: str, *, against_judging: bool = False) -> Collection:
    """The same, for whoever changes it or what belongs to it: on PostgreSQL one at a time until their transaction ends.

    Judging goes on beside it, unless the change is one that a judgement could contradict. (On SQLite there is one
    writer in any case.)
    """
    collection = session.scalar(
        select(Collection).where(Collection.slug == slug, SHOWN).with_for_update(key_share=not against_judging),
        # Whoever had to wait for the lock may have read before what the other has changed.
        execution_options={"populate_existing": True},
    )
    return collection or find_collection(session, slug)


def lock_open_collection(session: Session, slug: str, *, against_judging: bool = False) -> Collection:
    """The same, `ConflictError` when it is closed."""
    return _open(lock_collection(session, slug, against_judging=against_judging))


def refuse_closed_judging(session: Session, collection_id: int) -> None:
    """Tell a judge that the organiser has ended the judging, by `ConflictError`; else keep the scale as it is.

    Judges do not wait for each other, nor for imports, only for a change against judging; its settings are then read
    anew.
    """
    collection = session.scalars(
        select(Collection).where(Collection.id == collection_id).with_for_update(read=True, key_share=True),
        execution_options={"populate_existing": True},
    ).one()
    if collection.state == CollectionState.CLOSED:
        raise ConflictError("Judging has ended: the organiser has closed this collection.")


def topic_ids(session: Session, collection_id: int, *conditions: ColumnElement[bool]) -> dict[str, int]:
    """Topic number → row id, of all topics or of those that fit, such as `ACCEPTED`."""
    rows = session.execute(select(Topic.number, Topic.id).where(Topic.collection_id == collection_id, *conditions))
    return {number: id_ for number, id_ in rows}


def accepted_topics(session: Session, collection_id: int, wanted: Several[str] | None = None) -> dict[int, str]:
    """Topic id → number, of all accepted topics or of those that are wanted; `NotFoundError` for one there is not."""
    ids = topic_ids(session, collection_id, ACCEPTED)
    for number in wanted or ():
        if number not in ids:
            raise NotFoundError("There is no topic “%(number)s” in this collection.", number=number)
    return {ids[number]: number for number in (ids if wanted is None else wanted)}


def find_topic(session: Session, collection_id: int, number: str, *conditions: ColumnElement[bool]) -> Topic:
    """The topic of that number, if it fits; `NotFoundError` otherwise."""
    topic = session.scalar(
        select(Topic).where(Topic.collection_id == collection_id, Topic.number == number, *conditions)
    )
    if topic is None:
        raise NotFoundError("There is no topic “%(number)s” in this collection.", number=number)
    return topic


def scale_of(session: Session, collection_id: int) -> list[Grade]:
    """The grades of a collection, lowest first."""
    return list(session.scalars(select(Grade).where(Grade.collection_id == collection_id).order_by(Grade.value)))


def latest_guidelines(session: Session, collection_id: int) -> GuidelineVersion | None:
    """The version in force, None when there is none yet."""
    newest = select(func.max(GuidelineVersion.number)).where(GuidelineVersion.collection_id == collection_id)
    return session.scalar(
        select(GuidelineVersion).where(
            GuidelineVersion.collection_id == collection_id, GuidelineVersion.number == newest.scalar_subquery()
        )
    )


def _open(collection: Collection) -> Collection:
    if collection.state == CollectionState.CLOSED:
        raise ConflictError("The collection “%(slug)s” is closed: it takes no more changes.", slug=collection.slug)
    return collection
