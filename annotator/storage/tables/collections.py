"""Tables of collections, grading scales, guidelines, rounds, audit log and deletions."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from secrets import token_hex
from typing import Any

from sqlalchemy import ForeignKey, Index, UniqueConstraint, and_
from sqlalchemy.orm import Mapped, mapped_column

from annotator.storage.tables.columns import Base

JUDGE_ORDER_KEY_BYTES = 16
# The limit of TREC: a thousand documents per topic.
USUAL_MOST_DOCUMENTS = 1_000
USUAL_MOST_TEAMS = 100
USUAL_MOST_TAG_CHARACTERS = 128


class CollectionKind(StrEnum):
    """What a collection is for; it sets defaults, the words of the pages and which pages the menu shows."""

    SHARED_TASK = "shared-task"  # teams send runs until a deadline, and get scores when they are released
    COMPARISON = "comparison"  # one team compares its own systems


class CollectionState(StrEnum):
    """Open collections accept imports and judgements; closed ones are read-only."""

    OPEN = "open"
    CLOSED = "closed"


class ScoresShown(StrEnum):
    """Which scores a participant sees after their release."""

    NOTHING = "nothing"
    OWN = "own"  # scores of the team's runs
    BESIDE = "beside"  # also the worst, the median and the best of all runs per topic, without names
    WHOLE = "whole"  # also the leaderboard with the names of all runs


class PublicScores(StrEnum):
    """What everybody reads without signing in; scores after their release by a kept version of the qrels."""

    NOTHING = "nothing"
    TASK = "task"  # the page of the task, also before the release, without the leaderboard
    RELATIVE = "relative"  # whether each run is better or worse than the median of all, without any score
    EVERYTHING = "everything"  # the scores of all runs


class JudgingMode(StrEnum):
    """How topics are distributed: any judge draws from any topic, or each topic has an owner who judges all of it."""

    SHARED = "shared"
    OWNED = "owned"


# Default consensus policies. In owned mode the owner's grade counts, as at NIST, and documents graded only by others
# get the majority grade. In shared mode the first of two differing judges counts, so that multiply judged documents are
# graded like those judged once.
DEFAULT_POLICIES: Mapping[JudgingMode, str] = {
    JudgingMode.SHARED: "adjudicated-else-majority-first",
    JudgingMode.OWNED: "adjudicated-else-owner-else-majority",
}


# The default of earlier versions, which leaves out documents that the owner did not grade. Existing collections keep it
# until their judging mode changes.
EARLIER_DEFAULT_OWNED = "adjudicated-else-owner"


class Collection(Base):
    __tablename__ = "collection"

    id: Mapped[int] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(unique=True)
    title: Mapped[str]
    kind: Mapped[str] = mapped_column(default=CollectionKind.SHARED_TASK)
    state: Mapped[str] = mapped_column(default=CollectionState.OPEN)
    # The lowest grade that counts as relevant in binary measures.
    relevant_from: Mapped[int]
    # Judgements wanted per pool item, for items added from now on.
    judgements_wanted: Mapped[int]
    consensus_policy: Mapped[str]
    # Terms that participants must accept before submitting runs; empty: none.
    terms: Mapped[str] = mapped_column(default="")
    # Deadline for submitting and correcting runs; None: no deadline.
    submissions_until: Mapped[datetime | None]
    # The deadline as the organiser wrote it, with its time zone; empty if unknown.
    submissions_until_written: Mapped[str] = mapped_column(default="")
    # Until when participants register teams by themselves, and up to how many teams; None: they need an invitation.
    registration_until: Mapped[datetime | None]
    most_teams: Mapped[int] = mapped_column(default=USUAL_MOST_TEAMS)
    # Time from which participants see scores; None: never.
    scores_released_at: Mapped[datetime | None]
    scores_shown: Mapped[str] = mapped_column(default=ScoresShown.BESIDE)
    # Number of the stored qrels version for these scores; None: the live grades.
    scores_qrels_version: Mapped[int | None]
    # What the public pages show, and whether teams and runs have pseudonyms there.
    public_scores: Mapped[str] = mapped_column(default=PublicScores.NOTHING)
    public_veiled: Mapped[bool] = mapped_column(default=True)
    public_guidelines: Mapped[bool] = mapped_column(default=False)
    # Names of measures, one per line; empty: the usual ones.
    public_measures: Mapped[str] = mapped_column(default="")
    public_description: Mapped[str] = mapped_column(default="")
    public_citation: Mapped[str] = mapped_column(default="")
    # Names of teams and runs that are ordinary words in public texts, one per line.
    public_allowed: Mapped[str] = mapped_column(default="")
    # A run with more documents for a topic is accepted with a warning.
    most_documents: Mapped[int] = mapped_column(default=USUAL_MOST_DOCUMENTS)
    # How tags of participants' runs begin, with {team} for the team's name; their greatest length; and whether they
    # have no other characters than letters from A to Z, a to z, digits, “.”, “_” and “-”.
    tag_start: Mapped[str] = mapped_column(default="")
    most_tag_characters: Mapped[int] = mapped_column(default=USUAL_MOST_TAG_CHARACTERS)
    plain_tags: Mapped[bool] = mapped_column(default=False)
    # The most active runs of a team, in each round; 0: no limit.
    most_runs: Mapped[int] = mapped_column(default=0)
    # Where the documents are, as text for participants; empty: not stated.
    corpus: Mapped[str] = mapped_column(default="")
    # Whether participants may download the docnos, and the qrels version of the scores that are released to them.
    shares_docnos: Mapped[bool] = mapped_column(default=False)
    shares_qrels: Mapped[bool] = mapped_column(default=False)
    # Whether judges may search the corpus and add found documents to the pool.
    judges_search: Mapped[bool] = mapped_column(default=False)
    # Whether judges may open their own judgements of similar documents beside the one that they judge.
    judges_compare: Mapped[bool] = mapped_column(default=True)
    # Whether words of the topic, and those that judges choose, are highlighted in documents.
    judges_highlight: Mapped[bool] = mapped_column(default=True)
    judging_mode: Mapped[str] = mapped_column(default=JudgingMode.SHARED)
    # Percentages of each topic: items with a second judge, and items shown again to their judge after a day.
    overlap_share: Mapped[int] = mapped_column(default=0)
    reshow_share: Mapped[int] = mapped_column(default=0)
    # Number of documents per topic that every judge sees.
    common_items: Mapped[int] = mapped_column(default=0)
    # Percentage of training answers that must be right before judging; None: training is not required.
    pass_mark: Mapped[int | None]
    # Number of training documents that an attempt draws; None: all of them.
    training_size: Mapped[int | None]
    # Whether machines' grades enter the qrels beside people's.
    counts_machines: Mapped[bool] = mapped_column(default=False)
    # Whether adjudicators see the differing grades; judges' names are never shown.
    shows_grades: Mapped[bool] = mapped_column(default=False)
    # Whether disputed documents are left out of the qrels until adjudicated.
    leaves_out_disputed: Mapped[bool] = mapped_column(default=False)
    # What judges are paid per hour, and the currency; None: not stated.
    pay_per_hour: Mapped[float | None]
    pay_currency: Mapped[str] = mapped_column(default="")
    # Orders the numbers of judges in reports, and makes the pseudonyms of teams and runs in published kits, so that
    # nobody outside can match them with names. Never exported.
    judge_order_key: Mapped[str] = mapped_column(default=lambda: token_hex(JUDGE_ORDER_KEY_BYTES))
    added_at: Mapped[datetime]
    # Set when deleted: the collection cannot be found, and can be restored for a while.
    deleted_at: Mapped[datetime | None]
    # Hidden while its archive is imported in batches. If also deleted, it is being removed permanently.
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
    """A first impression of a document of a draft topic: it helps to choose topics and is not a judgement."""

    __tablename__ = "quick_look"
    __table_args__ = (UniqueConstraint("topic_id", "document_id", "looked_by_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"))
    document_id: Mapped[int] = mapped_column(ForeignKey("document.id"))
    looks_relevant: Mapped[bool]
    looked_by_id: Mapped[int] = mapped_column(ForeignKey("user.id"))
    looked_at: Mapped[datetime]


# Collections that are neither deleted nor being imported.
SHOWN = and_(Collection.deleted_at.is_(None), Collection.being_imported.is_(False))


class Round(Base):
    """A round of a collection; closing it stores the current grades as a qrels version."""

    __tablename__ = "round"
    __table_args__ = (UniqueConstraint("collection_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    # Numbered from 1 in each collection.
    number: Mapped[int]
    name: Mapped[str]
    opened_at: Mapped[datetime]
    closed_at: Mapped[datetime | None]
    # Set when it is closed.
    qrels_version_id: Mapped[int | None] = mapped_column(ForeignKey("qrels_version.id"))


# Copied in the migrations. Only the names of erased persons may change in an entry.
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
    """The interface through which somebody acted."""

    PAGE = "page"
    COMMAND = "command"
    API = "api"
    WORKER = "worker"  # at an hour, for nobody


class AuditEvent(Base):
    __tablename__ = "audit_event"
    __table_args__ = (Index("ix_audit_event_collection_id_id", "collection_id", "id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    # None for commands and deleted accounts; `name` keeps the name at that time.
    user_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    name: Mapped[str]
    door: Mapped[str]
    # None for actions on the whole site.
    collection_id: Mapped[int | None] = mapped_column(ForeignKey("collection.id"))
    # Noun and verb, such as “pool.build”.
    action: Mapped[str]
    # The object: a tag, a name, a version; "" for the collection itself.
    subject: Mapped[str]
    details: Mapped[dict[str, Any]]


class DeletedKind(StrEnum):
    """Kinds of objects that can be deleted."""

    COLLECTION = "collection"
    DOCUMENTS = "documents"
    LABELS = "labels"
    POOL = "pool"
    TOPIC = "topic"


class Deletion(Base):
    """A deletion; the row remains after the object is restored or permanently removed."""

    __tablename__ = "deletion"
    __table_args__ = (Index("ix_deletion_collection_id_kind", "collection_id", "kind"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    kind: Mapped[str]
    # A topic number, a pool version, an import's id or a number of documents; "" for the collection.
    subject: Mapped[str]
    # Numbers of deleted objects, such as documents and judgements.
    counts: Mapped[dict[str, Any]]
    deleted_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    deleted_at: Mapped[datetime]
    restored_at: Mapped[datetime | None]
    # Time of permanent removal.
    removed_at: Mapped[datetime | None]


class DeletedPart(Base):
    """Deleted rows of one table, or changes to remaining rows, as zlib-compressed JSON lines."""

    __tablename__ = "deleted_part"

    deletion_id: Mapped[int] = mapped_column(ForeignKey("deletion.id"), primary_key=True)
    # In the order of removal.
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    table_name: Mapped[str]
    # The column that was changed in remaining rows; None for deleted rows.
    column_name: Mapped[str | None]
    content: Mapped[bytes]
