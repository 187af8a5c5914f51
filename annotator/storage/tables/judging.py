"""Assignments, judgements, notes, questions and gold questions."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import cast

from sqlalchemy import ForeignKey, Index, Table, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from annotator.storage.tables.columns import NEVER_REUSED, Base, partial_index
from annotator.storage.tables.people import MACHINES

# For how long a judge holds a document; going on renews it, once less than half is left.
LEASE = timedelta(minutes=30)


class AssignmentState(StrEnum):
    """Where an assignment is: in a judge's hands, put off by them, judged, or given back to the queue."""

    LIVE = "live"
    LATER = "later"
    DONE = "done"
    RETURNED = "returned"


# In somebody's hands: they come back to the queue when the lease runs out or their judge signs out.
HELD = (AssignmentState.LIVE, AssignmentState.LATER)


class Purpose(StrEnum):
    """Why a judge was given a document; they cannot tell."""

    FIRST = "first"
    # Beyond the judgements that every item of the topic wants.
    OVERLAP = "overlap"
    COMMON = "common"
    TEST = "test"
    # The judge's own document once more, for self-agreement: what is said of it replaces nothing.
    RE_SHOWN = "re-shown"
    # A deciding word on a document whose judges differ.
    ADJUDICATION = "adjudication"
    # Nobody was shown it: it carries the judgement of an item with the same text.
    CARRIED = "carried"


# What is drawn for these is none of the judgements that the item wants.
BESIDES = frozenset({Purpose.RE_SHOWN, Purpose.ADJUDICATION})


class CannotJudge(StrEnum):
    """Why a document that was shown could not be assessed."""

    BROKEN = "broken"
    LANGUAGE = "language"
    NO_TEXT = "no-text"
    OTHER = "other"


class Assignment(Base):
    __tablename__ = "assignment"
    __table_args__ = (
        # A judge never holds the same item twice; what was given back may be drawn again.
        partial_index(
            "uq_assignment_held",
            "pool_item_id",
            "judge_id",
            where="state <> 'returned' AND purpose <> 're-shown'",
            unique=True,
        ),
        partial_index(
            "uq_assignment_reshown",
            "pool_item_id",
            "judge_id",
            where="state <> 'returned' AND purpose = 're-shown'",
            unique=True,
        ),
        Index("ix_assignment_judge", "judge_id", "state"),
        partial_index("ix_assignment_adjudication", "pool_item_id", where="purpose = 'adjudication'"),
        partial_index("ix_assignment_besides", "pool_item_id", where="purpose IN ('re-shown', 'adjudication')"),
        partial_index("ix_assignment_lease", "lease_until", where="state IN ('live', 'later')"),
        NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    pool_item_id: Mapped[int] = mapped_column(ForeignKey("pool_item.id"), index=True)
    judge_id: Mapped[int] = mapped_column(ForeignKey("user.id"))
    state: Mapped[str]
    purpose: Mapped[str] = mapped_column(default=Purpose.FIRST)
    drawn_at: Mapped[datetime]
    lease_until: Mapped[datetime]
    # When the judge last said “later”; it stays known after the document has gone back.
    put_off_at: Mapped[datetime | None]
    # Of the text that the judge was shown; None where nobody knows, and of a document without a text.
    text_hash: Mapped[str | None]


class Judgement(Base):
    __tablename__ = "judgement"
    __table_args__ = (
        partial_index("uq_judgement_current", "pool_item_id", "judge_id", where="current", unique=True),
        Index("ix_judgement_item", "pool_item_id", "judge_id"),
        # What was current at an earlier moment: few replace another.
        partial_index("ix_judgement_replaces_id", "replaces_id", where="replaces_id IS NOT NULL"),
        Index("ix_judgement_judge", "judge_id", "current"),
        partial_index("ix_judgement_carried_from_id", "carried_from_id", where="carried_from_id IS NOT NULL"),
        NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    # Made where the judgement was made, so that it is stored once however often it arrives.
    client_id: Mapped[str] = mapped_column(unique=True)
    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignment.id"), index=True)
    pool_item_id: Mapped[int] = mapped_column(ForeignKey("pool_item.id"))
    judge_id: Mapped[int] = mapped_column(ForeignKey("user.id"))
    # Exactly one of the two is set: a grade of the scale, or why there is none.
    grade: Mapped[int | None]
    cannot_judge: Mapped[str | None]
    note: Mapped[str] = mapped_column(default="")
    seconds: Mapped[float | None]
    guideline_version_id: Mapped[int | None] = mapped_column(ForeignKey("guideline_version.id"))
    judged_at: Mapped[datetime]
    # When the server got it; `judged_at` is that less the time it waited in the browser.
    received_at: Mapped[datetime]
    # The browser's tab, and the number of the judgement in it: their order, whatever a clock says.
    tab: Mapped[str] = mapped_column(default="")
    sequence: Mapped[int | None]
    # Whether the lease had already gone to somebody else.
    late: Mapped[bool] = mapped_column(default=False)
    # Whether this is the judge's latest word on the item; never what was said of it when it was shown again.
    current: Mapped[bool] = mapped_column(default=True)
    replaces_id: Mapped[int | None] = mapped_column(ForeignKey("judgement.id"))
    # The judgement of the item with the same text that this one repeats.
    carried_from_id: Mapped[int | None] = mapped_column(ForeignKey("judgement.id"))


# What every draw does, put together once and from the tables themselves, which takes a fraction of the time.
ASSIGNMENTS = cast("Table", Assignment.__table__)


class Preparation(StrEnum):
    """What a judge still has to do before they are given documents."""

    GUIDELINES = "guidelines"
    TRAINING = "training"


class Evidence(Base):
    """Words of the document for which a judgement was made; the places count characters of the text as shown."""

    __tablename__ = "evidence"

    id: Mapped[int] = mapped_column(primary_key=True)
    judgement_id: Mapped[int] = mapped_column(ForeignKey("judgement.id"), index=True)
    start: Mapped[int]
    end: Mapped[int]
    text: Mapped[str]


class TopicNote(Base):
    """What a judge decided counts as relevant for a topic: for themselves and the organisers."""

    __tablename__ = "topic_note"

    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"), primary_key=True)
    judge_id: Mapped[int] = mapped_column(ForeignKey("user.id"), primary_key=True)
    text: Mapped[str]
    changed_at: Mapped[datetime]


class TopicMark(Base):
    """Words that a judge wants marked in every document of a topic, in the order in which they were typed."""

    __tablename__ = "topic_mark"

    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"), primary_key=True)
    judge_id: Mapped[int] = mapped_column(ForeignKey("user.id"), primary_key=True)
    words: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[int]


class Question(Base):
    """What a judge asked the organisers, about a topic or a document or anything, and the answer."""

    __tablename__ = "question"

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"), index=True)
    topic_id: Mapped[int | None] = mapped_column(ForeignKey("topic.id"))
    pool_item_id: Mapped[int | None] = mapped_column(ForeignKey("pool_item.id"), index=True)
    asked_by_id: Mapped[int] = mapped_column(ForeignKey("user.id"))
    # Made where the question was asked, so that it is stored once however often it arrives.
    client_id: Mapped[str] = mapped_column(unique=True)
    text: Mapped[str]
    asked_at: Mapped[datetime]
    answer: Mapped[str] = mapped_column(default="")
    answered_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    answered_at: Mapped[datetime | None]
    # When the judge was shown the answer.
    read_at: Mapped[datetime | None]


class QualifyingItem(Base):
    """A document of the training, with the grade that is right and why. What is said of it never becomes a qrel."""

    __tablename__ = "qualifying_item"
    __table_args__ = (UniqueConstraint("topic_id", "document_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"), index=True)
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"))
    document_id: Mapped[int] = mapped_column(ForeignKey("document.id"))
    position: Mapped[int]
    known_grade: Mapped[int]
    explanation: Mapped[str]


class QualifyingAnswer(Base):
    """What a judge in training said; a new attempt begins at the first document again."""

    __tablename__ = "qualifying_answer"

    qualifying_item_id: Mapped[int] = mapped_column(ForeignKey("qualifying_item.id"), primary_key=True)
    judge_id: Mapped[int] = mapped_column(ForeignKey("user.id"), primary_key=True)
    # From 1.
    attempt: Mapped[int] = mapped_column(primary_key=True)
    grade: Mapped[int]
    answered_at: Mapped[datetime]


class LabelFile(Base):
    """A file of labels that was taken in, so that the same one again never undoes what its judge changed since."""

    __tablename__ = "label_file"
    __table_args__ = (UniqueConstraint("collection_id", "judge_id", "checksum"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    judge_id: Mapped[int] = mapped_column(ForeignKey("user.id"))
    name: Mapped[str]
    checksum: Mapped[str]
    imported_at: Mapped[datetime]


# Conditions, word for word as the partial indexes have them: SQLAlchemy would compare with a bound value, and the
# indexes would not be used. Held or done; a second showing is neither.
HAS_IT = text("assignment.state <> 'returned' AND assignment.purpose <> 're-shown'")
SHOWN_AGAIN = text("assignment.state <> 'returned' AND assignment.purpose = 're-shown'")
# Whether somebody was given an item to decide, or to judge.
DECIDES = text("assignment.purpose = 'adjudication'")
JUDGES = text("assignment.purpose <> 'adjudication'")
CURRENT = text("judgement.current")
OF_PEOPLE = Judgement.judge_id.not_in(MACHINES)
# How the client ids of imported labels begin; archives keep them.
OF_A_FILE = "file-"
# All labels of a file have the moment of its import, and the order of its lines.
HAS_OWN_TIME = Judgement.client_id.not_like(f"{OF_A_FILE}%")
