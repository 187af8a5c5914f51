"""Collections, their scale, guidelines, rounds, audit log and deletions."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, UniqueConstraint, and_
from sqlalchemy.orm import Mapped, mapped_column

from annotator.storage.tables.columns import Base

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


class Round(Base):
    """One round of a collection; when it is closed, the settled grades of that moment are kept as its record."""

    __tablename__ = "round"
    __table_args__ = (UniqueConstraint("collection_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    # From 1 in each collection.
    number: Mapped[int]
    name: Mapped[str]
    opened_at: Mapped[datetime]
    closed_at: Mapped[datetime | None]
    # Set when it is closed.
    qrels_version_id: Mapped[int | None] = mapped_column(ForeignKey("qrels_version.id"))


# The migrations make the same by their own words. All that may ever change of a line is the name of a person who was
# forgotten.
SQLITE_GUARDS = (
    """
    CREATE TRIGGER audit_event_stays BEFORE DELETE ON audit_event BEGIN
        SELECT RAISE(ABORT, 'the log of deeds is only ever added to');
    END
    """,
    """
    CREATE TRIGGER audit_event_unchanged BEFORE UPDATE ON audit_event WHEN NOT (
        new.id IS old.id AND new.at IS old.at AND new.user_id IS old.user_id AND new.door IS old.door
        AND new.collection_id IS old.collection_id AND new.action IS old.action AND new.details IS old.details
        AND (new.name IS old.name OR new.name GLOB 'forgotten-*')
        AND (new.subject IS old.subject OR new.subject GLOB 'forgotten-*')
    ) BEGIN
        SELECT RAISE(ABORT, 'the log of deeds is only ever added to');
    END
    """,
)


POSTGRES_GUARDS = (
    """
    CREATE FUNCTION audit_event_refuses() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'the log of deeds is only ever added to';
    END
    $$
    """,
    """
    CREATE TRIGGER audit_event_stays BEFORE DELETE OR TRUNCATE ON audit_event
    FOR EACH STATEMENT EXECUTE FUNCTION audit_event_refuses()
    """,
    """
    CREATE TRIGGER audit_event_unchanged BEFORE UPDATE ON audit_event FOR EACH ROW WHEN (NOT (
        new.id = old.id AND new.at = old.at AND new.user_id IS NOT DISTINCT FROM old.user_id AND new.door = old.door
        AND new.collection_id IS NOT DISTINCT FROM old.collection_id AND new.action = old.action
        AND new.details::text = old.details::text
        AND (new.name = old.name OR starts_with(new.name, 'forgotten-'))
        AND (new.subject = old.subject OR starts_with(new.subject, 'forgotten-'))
    )) EXECUTE FUNCTION audit_event_refuses()
    """,
)


class Door(StrEnum):
    """By which way somebody came in."""

    PAGE = "page"
    COMMAND = "command"
    API = "api"


class AuditEvent(Base):
    __tablename__ = "audit_event"
    __table_args__ = (Index("ix_audit_event_collection_id_id", "collection_id", "id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    # None by command, and when an account is gone; the name stays as it was then.
    user_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    name: Mapped[str]
    door: Mapped[str]
    # None for what concerns the whole site.
    collection_id: Mapped[int | None] = mapped_column(ForeignKey("collection.id"))
    # A noun and a verb, such as “pool.build”.
    action: Mapped[str]
    # Of what: a tag, a name, a version; "" where the collection itself is meant.
    subject: Mapped[str]
    details: Mapped[dict[str, Any]]


class DeletedKind(StrEnum):
    """What can be deleted as a whole."""

    COLLECTION = "collection"
    DOCUMENTS = "documents"
    LABELS = "labels"
    POOL = "pool"
    TOPIC = "topic"


class Deletion(Base):
    """Something that was deleted; the line stays when it was restored, or removed for good."""

    __tablename__ = "deletion"
    __table_args__ = (Index("ix_deletion_collection_id_kind", "collection_id", "kind"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    kind: Mapped[str]
    # A topic's number, a pool's version, an import's id, how many documents; "" for the collection.
    subject: Mapped[str]
    # How many there were of what, such as documents and judgements.
    counts: Mapped[dict[str, Any]]
    deleted_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    deleted_at: Mapped[datetime]
    restored_at: Mapped[datetime | None]
    # When it was removed for good.
    removed_at: Mapped[datetime | None]


class DeletedPart(Base):
    """Rows of one table, or changes of rows that stayed, as compressed lines of JSON."""

    __tablename__ = "deleted_part"

    deletion_id: Mapped[int] = mapped_column(ForeignKey("deletion.id"), primary_key=True)
    # In the order in which they were taken out.
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    table_name: Mapped[str]
    # The column whose values were changed in rows that stayed; None for rows that were taken out.
    column_name: Mapped[str | None]
    content: Mapped[bytes]
