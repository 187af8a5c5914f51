"""One evaluation exercise: its scale, its guidelines and its topics."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import ForeignKey, UniqueConstraint, func, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from annotator.errors import ConflictError, NotFoundError
from annotator.storage.columns import Base, ByteOrdered


class CollectionState(StrEnum):
    """Open collections take imports and judgements; closed ones only show and export."""

    OPEN = "open"
    CLOSED = "closed"


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
    added_at: Mapped[datetime]


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
    __table_args__ = (UniqueConstraint("collection_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    number: Mapped[str] = mapped_column(ByteOrdered)
    title: Mapped[str]
    description: Mapped[str]
    narrative: Mapped[str]
    language: Mapped[str | None]


def find_collection(session: Session, slug: str) -> Collection:
    """The collection of that short name; `NotFoundError` when there is none."""
    collection = session.scalar(select(Collection).where(Collection.slug == slug))
    if collection is None:
        raise NotFoundError("There is no collection “%(slug)s”.", slug=slug)
    return collection


def find_open_collection(session: Session, slug: str) -> Collection:
    """The same, for whoever wants to change something; `ConflictError` when it is closed."""
    collection = find_collection(session, slug)
    if collection.state == CollectionState.CLOSED:
        raise ConflictError("The collection “%(slug)s” is closed: it takes no more changes.", slug=slug)
    return collection


def refuse_closed_judging(session: Session, collection_id: int) -> None:
    """Tell a judge that the organiser has ended the judging, by `ConflictError`."""
    if session.get_one(Collection, collection_id).state == CollectionState.CLOSED:
        raise ConflictError("Judging has ended: the organiser has closed this collection.")


def topic_ids(session: Session, collection_id: int) -> dict[str, int]:
    """Topic number → row id."""
    rows = session.execute(select(Topic.number, Topic.id).where(Topic.collection_id == collection_id))
    return {number: id_ for number, id_ in rows}


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
