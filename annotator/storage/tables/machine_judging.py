"""Tables of machine judges that this site runs, their runs over documents, and the responses of models."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from annotator.storage.tables.columns import NEVER_REUSED, Base


class MachineJudge(Base):
    """A version of a machine judge: a model with a prompt and settings, which never change."""

    __tablename__ = "machine_judge"
    __table_args__ = (UniqueConstraint("collection_id", "name", "version"), NEVER_REUSED)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    name: Mapped[str]
    # Numbered from 1 in each name.
    version: Mapped[int]
    # The judge whose labels are this version's.
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), index=True)
    endpoint: Mapped[str]
    model: Mapped[str]
    # The name of a built-in prompt or of a file, and its text.
    prompt_name: Mapped[str]
    prompt: Mapped[str]
    samples: Mapped[int]
    temperature: Mapped[float]
    # Limits of the document's text and of the response, in tokens.
    text_tokens: Mapped[int]
    answer_tokens: Mapped[int]
    # Whether log-probabilities are requested.
    wants_probabilities: Mapped[bool]
    # Requests at the same time.
    parallel: Mapped[int]
    # For a million tokens that are sent and received; None: not stated.
    price_sent: Mapped[float | None]
    price_received: Mapped[float | None]
    currency: Mapped[str]
    added_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    added_at: Mapped[datetime]


class MachineRunState(StrEnum):
    """Life cycle of a run: a stopped one can be continued."""

    RUNNING = "running"
    STOPPED = "stopped"
    CANCELLED = "cancelled"
    DONE = "done"


class MachineRun(Base):
    """A run of a machine judge over documents in the order of topics and documents."""

    __tablename__ = "machine_run"
    __table_args__ = (Index("ix_machine_run_machine_judge_id_id", "machine_judge_id", "id"), NEVER_REUSED)

    id: Mapped[int] = mapped_column(primary_key=True)
    machine_judge_id: Mapped[int] = mapped_column(ForeignKey("machine_judge.id"))
    state: Mapped[str]
    # `topics`: their ids; `judged`: whether only documents that people have judged; `documents`: of a trial, pairs of
    # topic and document ids.
    scope: Mapped[dict[str, Any]]
    # The most that it may use; None: no limit.
    most_tokens: Mapped[int | None] = mapped_column(BigInteger)
    most_cost: Mapped[float | None]
    # Documents in all, and what came of them so far.
    documents: Mapped[int]
    labelled: Mapped[int] = mapped_column(default=0)
    without_grade: Mapped[int] = mapped_column(default=0)
    failed: Mapped[int] = mapped_column(default=0)
    # Requests that were answered.
    requests: Mapped[int] = mapped_column(default=0)
    tokens_sent: Mapped[int] = mapped_column(BigInteger, default=0)
    tokens_received: Mapped[int] = mapped_column(BigInteger, default=0)
    # The last topic and document that were begun in this order.
    at_topic_id: Mapped[int] = mapped_column(default=0)
    at_document_id: Mapped[int] = mapped_column(default=0)
    # How often in a row the endpoint gave nothing, why, as a template in English with its values, and until when it is
    # not asked.
    failures: Mapped[int] = mapped_column(default=0)
    problem: Mapped[str] = mapped_column(default="")
    problem_values: Mapped[dict[str, Any]] = mapped_column(default=dict)
    paused_until: Mapped[datetime | None]
    # Until when other workers leave it alone, and how often a worker has taken it.
    taken_until: Mapped[datetime | None]
    attempt: Mapped[int] = mapped_column(default=0)
    started_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    started_at: Mapped[datetime]
    # When something was recorded last.
    moved_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]


class MachineResponse(Base):
    """What a model responded to a request, verbatim: the same request is not sent again."""

    __tablename__ = "machine_response"
    __table_args__ = (UniqueConstraint("collection_id", "request_digest"), NEVER_REUSED)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    # As `annotator.evaluation.machine_judging.completions` computes it.
    request_digest: Mapped[str]
    # Whose request it was first; another version may have sent the same.
    machine_judge_id: Mapped[int] = mapped_column(ForeignKey("machine_judge.id"), index=True)
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"), index=True)
    document_id: Mapped[int] = mapped_column(ForeignKey("document.id"), index=True)
    text: Mapped[str]
    finish: Mapped[str]
    # The probability of each grade where the response has the grade, as `of` in the order of the scale; empty: unknown.
    probabilities: Mapped[dict[str, Any]]
    tokens_sent: Mapped[int]
    tokens_received: Mapped[int]
    received_at: Mapped[datetime]


class OutcomeKind(StrEnum):
    """Why a document has no label of a version."""

    WITHOUT_GRADE = "without-grade"
    FAILED = "failed"
    # Tried again later in the run.
    DEFERRED = "deferred"


class MachineOutcome(Base):
    """A document that a version was asked about without getting a label."""

    __tablename__ = "machine_outcome"

    machine_judge_id: Mapped[int] = mapped_column(ForeignKey("machine_judge.id"), primary_key=True)
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"), primary_key=True)
    document_id: Mapped[int] = mapped_column(ForeignKey("document.id"), primary_key=True, index=True)
    kind: Mapped[str]
    # What went wrong, as a template in English with its values.
    problem: Mapped[str]
    problem_values: Mapped[dict[str, Any]]
    # The request for its first sample, whose response was kept if there is one.
    request_digest: Mapped[str]
    attempts: Mapped[int] = mapped_column(default=0)
    next_at: Mapped[datetime | None]
    at: Mapped[datetime]
