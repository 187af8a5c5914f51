"""Simulated judges of an adaptive pool; as on the judging page, each step has its own transactions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import uuid4

from beginning import beginning
from build import NOW, SLUG, build, document_file, member, news, run, topic_file
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.storage import CannotJudge, Database, Document, PoolItem, SelectionEvent, Topic
from annotator.storage.judging.leases import Decision
from annotator.storage.pools.pools import PoolRequest
from annotator.workflows.judging import judging, recording
from annotator.workflows.judging.judging import JudgingTask
from annotator.workflows.pools import pool_selection
from annotator.workflows.pools.pool_selection import Memory

# The runs of METHODS.md 1.5; relevant are a, b, g and k.
FIXTURE = {"A": "abcdef", "B": "bghaij", "C": "klmnob"}
RELEVANT = frozenset("abgk")


@dataclass
class AdaptiveJudge:
    """A judge who gives every document the result of `grade_of`: a grade, or None when it cannot be judged."""

    database: Database
    id: int
    grade_of: Callable[[str], int | None] = lambda docno: int(docno in RELEVANT)
    memory: Memory = field(default_factory=Memory)

    def next(self, number: str = "1") -> JudgingTask | None:
        """The next document, chosen first if need be."""
        while True:
            with self.database.reading() as session:
                chosen = pool_selection.choose_next(session, SLUG, number, self.id, memory=self.memory)
            if chosen is not None:
                with self.database.transaction() as session:
                    pool_selection.add_choices(session, SLUG, chosen, at=NOW)
            with self.database.transaction() as session:
                task = judging.next_task(session, SLUG, number, self.id, now=NOW)
            if task is not None or chosen is None:
                return task

    def judge(self, task: JudgingTask, grade: int | None) -> None:
        """Judge a document."""
        decision = Decision(grade) if grade is not None else Decision(None, CannotJudge.OTHER)
        with self.database.transaction() as session:
            recording.record_judgement(
                session, SLUG, task.assignment_id, self.id, decision, client_id=uuid4().hex, judged_at=NOW
            )

    def work(self, number: str = "1", most: int | None = None) -> list[str]:
        """Judge until nothing is left, or `most` documents; return the docnos in the order shown."""
        shown: list[str] = []
        while (most is None or len(shown) < most) and (task := self.next(number)) is not None:
            self.judge(task, self.grade_of(task.docno))
            shown.append(task.docno)
        return shown


def adaptive_news(
    database: Database,
    strategy: str = "mtf",
    said: Mapping[str, str | int] | None = None,
    runs: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    *,
    judgements_wanted: int = 1,
) -> list[int]:
    """The fixture's runs in topic 1 with an adaptive pool; the ids of the judges Jo and Kim."""
    with database.transaction() as session:
        if not runs:
            fixture_news(session, judgements_wanted=judgements_wanted)
        else:
            lettered_news(session, judgements_wanted=judgements_wanted)
            for tag, lists in runs.items():
                run(session, tag, lists)
        build(session, PoolRequest(strategy, said or {"budget": 15, "start_depth": 1, "ties": "first-run"}))
        return [member(session, name) for name in ("jo", "kim")]


@beginning
def fixture_news(session: Session, *, judgements_wanted: int) -> None:
    """A collection with the fixture's runs."""
    lettered_news(session, judgements_wanted=judgements_wanted)
    for tag, docnos in FIXTURE.items():
        run(session, tag, {"1": list(docnos)})


@beginning
def lettered_news(session: Session, *, judgements_wanted: int) -> None:
    """A collection with documents a to o."""
    news(session, judgements_wanted=judgements_wanted)
    topic_file(session)
    document_file(session, "abcdefghijklmno")


def chosen(session: Session, number: str = "1") -> str:
    """The docnos that were chosen for a topic, in the order of the steps."""
    return "".join(
        session.scalars(
            select(Document.docno)
            .join(PoolItem, PoolItem.document_id == Document.id)
            .join(SelectionEvent, SelectionEvent.pool_item_id == PoolItem.id)
            .join(Topic, Topic.id == PoolItem.topic_id)
            .where(Topic.number == number)
            .order_by(SelectionEvent.pool_id, SelectionEvent.step)
        )
    )
