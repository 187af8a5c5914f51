"""Tables of the tasks of a collection: each has topics, rules and a questionnaire of its own."""

from datetime import datetime

from sqlalchemy import JSON, ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from annotator.storage.tables.columns import NEVER_REUSED, Base


class Task(Base):
    """A task of a collection, to which runs are sent; a collection without tasks is a single one.

    What is None is as the collection has it.
    """

    __tablename__ = "task"
    __table_args__ = (UniqueConstraint("collection_id", "key"), NEVER_REUSED)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    # The name in commands, files and addresses.
    key: Mapped[str]
    title: Mapped[str]
    description: Mapped[str] = mapped_column(default="")
    # Whether it has every topic of the collection, those that come later included; else those of `TaskTopic`.
    every_topic: Mapped[bool] = mapped_column(default=True)
    # Names of the formats in which runs are taken; empty: any.
    run_formats: Mapped[list[str]] = mapped_column(JSON, default=list)
    most_documents: Mapped[int | None]
    # The most active runs of a team, in each round; 0: no limit.
    most_runs: Mapped[int | None]
    added_at: Mapped[datetime]


class TaskTopic(Base):
    """A topic of a task that does not have every topic."""

    __tablename__ = "task_topic"

    task_id: Mapped[int] = mapped_column(ForeignKey("task.id"), primary_key=True)
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"), primary_key=True, index=True)
