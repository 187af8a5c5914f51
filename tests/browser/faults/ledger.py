"""The proof: what was pressed is what is stored, each press once, in its tab's order, and nothing else."""

from collections import Counter
from collections.abc import Iterable, Sequence

from browser.faults.judge_tab import JudgeTab, Press
from browser.pages import eventually
from playwright.sync_api import Page
from sqlalchemy import func, select

from annotator.storage import Assignment, AssignmentState, Database, Document, Judgement, PoolItem, User

Line = tuple[str, tuple[Press, ...]]


def nothing_is_lost(database: Database, tabs: Iterable[JudgeTab]) -> None:
    """Compare what the tabs' judges pressed with the database; all must have been sent by now."""
    pressed = [(tab.judge, tuple(tab.pressed)) for tab in tabs]
    words = [(judge, tuple(press for press in presses if press.said != "later")) for judge, presses in pressed]
    assert sorted(_stored(database), key=repr) == sorted((line for line in words if line[1]), key=repr)
    put_off = {(judge, press.docno) for judge, presses in pressed for press in presses if press.said == "later"}
    assert put_off == _put_off(database)
    assert _overfull(database) == []


def count_stored(database: Database) -> int:
    """How many judgements have arrived."""
    with database.reading() as session:
        return session.scalars(select(func.count(Judgement.id))).one()


def wait_until_stored(database: Database, page: Page, count: int) -> None:
    """Wait until so many judgements have arrived."""
    eventually(page, lambda: count_stored(database) >= count)


def stored_late(database: Database, judge: str) -> list[bool]:
    """Whether each of somebody's judgements was late, in the order in which they came."""
    with database.reading() as session:
        statement = select(Judgement.late).join(User, User.id == Judgement.judge_id)
        return list(session.scalars(statement.where(User.name == judge).order_by(Judgement.id)))


def _stored(database: Database) -> list[Line]:
    """The judgements of each tab in the order in which they came, which must be that of their numbers."""
    statement = (
        select(User.name, Judgement.tab, Judgement.sequence, Document.docno, Judgement.grade, Judgement.cannot_judge)
        .join(User, User.id == Judgement.judge_id)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Document, Document.id == PoolItem.document_id)
        .order_by(Judgement.id)
    )
    tabs: dict[tuple[str, str], list[tuple[int | None, Press]]] = {}
    with database.reading() as session:
        for judge, tab, sequence, docno, grade, reason in session.execute(statement):
            said = str(grade) if reason is None else reason
            tabs.setdefault((judge, tab), []).append((sequence, Press(docno, said)))
    return [(judge, _in_order(lines)) for (judge, _), lines in tabs.items()]


def _in_order(lines: Sequence[tuple[int | None, Press]]) -> tuple[Press, ...]:
    sequences = [sequence for sequence, _ in lines]
    assert sequences == sorted(set(sequences), key=lambda one: one or 0)
    return tuple(press for _, press in lines)


def _put_off(database: Database) -> set[tuple[str, str]]:
    statement = (
        select(User.name, Document.docno)
        .select_from(Assignment)
        .join(User, User.id == Assignment.judge_id)
        .join(PoolItem, PoolItem.id == Assignment.pool_item_id)
        .join(Document, Document.id == PoolItem.document_id)
        .where(Assignment.put_off_at.is_not(None))
    )
    with database.reading() as session:
        return {(judge, docno) for judge, docno in session.execute(statement)}


def _overfull(database: Database) -> list[int]:
    """The pool items whose count is wrong, or that more judges have than are wanted, but for those who were late."""
    with database.reading() as session:
        items = session.scalars(select(PoolItem)).all()
        taken = Counter(
            session.scalars(select(Assignment.pool_item_id).where(Assignment.state != AssignmentState.RETURNED))
        )
        late = Counter(session.scalars(select(Judgement.pool_item_id).where(Judgement.late)))
        return [
            item.id
            for item in items
            if item.taken != taken[item.id] or item.taken > item.judgements_wanted + late[item.id]
        ]


def stored_ids(database: Database) -> list[str]:
    """The ids that browsers gave to what has arrived, withdrawals included."""
    with database.reading() as session:
        return list(session.scalars(select(Judgement.client_id)))


def decisions_now(database: Database) -> dict[str, str]:
    """Docno → the grade or reason that stands; withdrawn judgements do not."""
    statement = (
        select(Document.docno, Judgement.grade, Judgement.cannot_judge)
        .join(PoolItem, PoolItem.document_id == Document.id)
        .join(Judgement, Judgement.pool_item_id == PoolItem.id)
        .where(Judgement.current, Judgement.cannot_judge.is_distinct_from("withdrawn"))
    )
    with database.reading() as session:
        return {docno: str(grade) if reason is None else reason for docno, grade, reason in session.execute(statement)}
