"""What is read before labels or a version of the pool are removed or restored holds, or is read again."""

from collections.abc import Callable

import pytest
from build import NOW, SLUG, labels, member, pool, pooled_news, run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kept import Kept
from queues import items_of, queue, retext, settle, take
from sqlalchemy import Table, select
from sqlalchemy.orm import Session
from thorough import examples
from undone import undone
from workflows.collections.test_deletions import BY_COMMAND, LATER, everything, imports, record

from annotator.errors import ConflictError, NotFoundError
from annotator.storage import Assignment, Collection, Database, DeletedKind, Judgement, Topic, User
from annotator.storage.agreement.machines import MachineFacts
from annotator.storage.collections import removal
from annotator.storage.collections.checking import examine
from annotator.storage.judging.judgement_removal import recount_taken
from annotator.storage.judging.judgements_wanted import settle_needs
from annotator.storage.judging.label_removal import LabelRelease
from annotator.workflows.agreement.machine_judges import mark_machine
from annotator.workflows.collections.deletions import delete_it, prepare_deletion
from annotator.workflows.collections.queue_settings import QueueChange, change_queue
from annotator.workflows.collections.restoring import read_deletion, restore_deletion
from annotator.workflows.judging import judging

LABELS = DeletedKind.LABELS
FILE = "".join(f"1 0 d{number:05} {number % 3}\n" for number in range(1, 7))


def prepare(session: Session) -> LabelRelease:
    prepared = prepare_deletion(session, SLUG, LABELS, imports(session)[-1:])
    assert isinstance(prepared, LabelRelease)
    return prepared


def delete(session: Session, prepared: LabelRelease | None) -> int:
    file = imports(session)[-1:]
    number, _ = delete_it(session, SLUG, LABELS, file, typed=None, actor=BY_COMMAND, at=LATER, prepared=prepared)
    return number


def nothing_is_left_to_count(session: Session) -> bool:
    """Whether counting and comparing all items again changes nothing."""
    before, topics = everything(session), list(session.scalars(select(Topic.id)))
    recount_taken(session, topics)
    settle_needs(session, session.scalars(select(Collection.id)).one(), topics)
    session.expire_all()
    return everything(session) == before


@given(
    share=st.integers(0, 100),
    common=st.integers(0, 3),
    drawn=st.integers(0, 4),
    alike=st.sampled_from([0, 3, 8]),
    both=st.booleans(),
)
@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_removed_and_restored_labels_leave_nothing_to_count(
    sqlite_database: Database, share: int, common: int, drawn: int, alike: int, *, both: bool
) -> None:
    with undone(sqlite_database) as session:
        [topic] = queue(session, 10, overlap_share=share, common_items=common)
        for item in items_of(session, topic)[:alike:2]:
            retext(session, item.id, "the same")
        settle(session, topic)
        take(session, member(session, "jo"), topic, drawn)
        labels(session, "zed", FILE)
        if both:
            labels(session, "zed", "1 0 d00001 2\n1 0 d00007 1\n", name="later.qrels")
        before = everything(session)
        number = delete(session, prepare(session))
        assert nothing_is_left_to_count(session)
        restore_deletion(session, SLUG, number, read=read_deletion(session, SLUG, number), at=LATER)
        assert nothing_is_left_to_count(session)
        if not alike:  # a document without a label of its own may have become another's duplicate
            assert everything(session)["judgement"] == before["judgement"]
            assert everything(session)["assignment"] == before["assignment"]
        session.rollback()


def _fill(database: Database) -> None:
    with database.transaction() as session:
        queue(session, 10, overlap_share=30)
        member(session, "zed")
        member(session, "jo")
        labels(session, "zed", FILE)


@pytest.fixture
def labelled(database: Database, kept: Kept) -> Database:
    kept.fill(database, _fill)
    return database


def named(session: Session, name: str) -> int:
    return session.scalars(select(User.id).where(User.name == name)).one()


def nothing(_session: Session) -> None:
    pass


def another_draws(session: Session) -> None:
    assert take(session, named(session, "jo"), session.scalars(select(Topic)).one(), 3)


def another_judges(session: Session) -> None:
    task = judging.next_task(session, SLUG, "1", named(session, "jo"), now=NOW)
    assert task is not None
    record(session, task.assignment_id, named(session, "jo"), 1, "others")


def the_judge_corrects(session: Session) -> None:
    of_file = select(Judgement.assignment_id).where(Judgement.judge_id == named(session, "zed")).limit(1)
    record(session, session.scalars(of_file).one(), named(session, "zed"), 2, "corrected")


def another_file_corrects(session: Session) -> None:
    labels(session, "zed", "1 0 d00001 0\n1 0 d00009 2\n", name="later.qrels")


def settings_change(session: Session) -> None:
    change_queue(session, SLUG, QueueChange(overlap_share=80, common_items=2))


def judge_is_a_machine(session: Session) -> None:
    mark_machine(session, "zed", MachineFacts())


def texts_are_alike(session: Session) -> None:
    topic = session.scalars(select(Topic)).one()
    for item in items_of(session, topic)[::2]:
        retext(session, item.id, "the same")
    settle(session, topic)


MEANWHILE = {
    one.__name__: one
    for one in (
        *(nothing, another_draws, another_judges, the_judge_corrects, another_file_corrects, settings_change),
        *(judge_is_a_machine, texts_are_alike),
    )
}
# After these the labels are not the same rows.
CHANGED = {"the_judge_corrects", "another_file_corrects", "settings_change", "judge_is_a_machine", "texts_are_alike"}


@pytest.mark.parametrize("meanwhile", MEANWHILE.values(), ids=MEANWHILE)
def test_what_happens_before_a_removal_is_taken_into_account(
    labelled: Database, meanwhile: Callable[[Session], None]
) -> None:
    file = labelled.read(lambda session: imports(session)[-1:])
    prepared = labelled.read(prepare)
    with labelled.transaction() as session:
        meanwhile(session)
    with labelled.transaction() as session:
        assert prepared.holds(session) == (meanwhile.__name__ not in CHANGED)
        delete_it(session, SLUG, LABELS, file, typed=None, actor=BY_COMMAND, at=LATER, prepared=prepared)
        gone = Judgement.id.in_(prepared.labels.all_ids)
        assert session.scalars(select(Judgement.id).where(gone)).all() == []
        assert nothing_is_left_to_count(session)
    assert examine(labelled).wrong == []


@pytest.mark.parametrize("meanwhile", [nothing, another_draws, settings_change, judge_is_a_machine, texts_are_alike])
def test_what_happens_before_a_restoration_is_taken_into_account(
    labelled: Database, meanwhile: Callable[[Session], None]
) -> None:
    with labelled.transaction() as session:
        number = delete(session, None)
    read = labelled.read(read_deletion, SLUG, number)
    with labelled.transaction() as session:
        meanwhile(session)
    with labelled.transaction() as session:
        restore_deletion(session, SLUG, number, read=read, at=LATER)
        of_zed = Judgement.judge_id == named(session, "zed"), Judgement.carried_from_id.is_(None)
        assert len(session.scalars(select(Judgement.id).where(*of_zed)).all()) == 6
        assert nothing_is_left_to_count(session)
    assert examine(labelled).wrong == []


def test_what_was_prepared_is_not_read_again(labelled: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = labelled.read(prepare)
    read: list[str] = []
    pack = removal._packed_rows  # noqa: SLF001 - what reads rows

    def noting(session: Session, table: Table, *rest: object) -> object:
        read.append(table.name)
        return pack(session, table, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(removal, "_packed_rows", noting)
    with labelled.transaction() as session:
        number = delete(session, prepared)
    assert "label_file" in read
    assert not {"judgement", "assignment"} & set(read)
    monkeypatch.undo()
    with labelled.transaction() as session:
        restore_deletion(session, SLUG, number, at=LATER)
        assert len(session.scalars(select(Assignment.id)).all()) == 6
    assert examine(labelled).wrong == []


def test_an_import_that_is_gone_is_not_removed_again(labelled: Database) -> None:
    prepared = labelled.read(prepare)
    file = labelled.read(lambda session: imports(session)[-1:])
    with labelled.transaction() as session:
        delete(session, prepared)
    with labelled.reading() as session, pytest.raises(NotFoundError, match="no import of labels"):
        prepare_deletion(session, SLUG, LABELS, file)
    with labelled.transaction() as session, pytest.raises(NotFoundError, match="no import of labels"):
        delete_it(session, SLUG, LABELS, file, typed=None, actor=BY_COMMAND, at=LATER, prepared=prepared)


def _pool_twice(database: Database) -> None:
    with database.transaction() as session:
        pooled_news(session)
        run(session, "gamma", {"1": ["x", "y"], "2": ["z"]})
        pool(session, 5)
        member(session, "jo")


@pytest.fixture
def pooled_twice(database: Database, kept: Kept) -> Database:
    kept.fill(database, _pool_twice)
    return database


def pool_grows_and_shrinks(session: Session) -> None:
    run(session, "delta", {"2": ["v", "w"]})
    pool(session, 5)
    delete_it(session, SLUG, DeletedKind.POOL, ["3"], typed=None, actor=BY_COMMAND, at=LATER)


@pytest.mark.parametrize("meanwhile", [nothing, pool_grows_and_shrinks, settings_change])
def test_a_version_of_the_pool_that_was_read_before_goes_and_comes_back(
    pooled_twice: Database, meanwhile: Callable[[Session], None]
) -> None:
    prepared = pooled_twice.read(prepare_deletion, SLUG, DeletedKind.POOL, ["2"])
    with pooled_twice.transaction() as session:
        meanwhile(session)
    with pooled_twice.transaction() as session:
        before = everything(session)
        number, _ = delete_it(
            session, SLUG, DeletedKind.POOL, ["2"], typed=None, actor=BY_COMMAND, at=LATER, prepared=prepared
        )
        assert len(everything(session)["pool_item"]) < len(before["pool_item"])
        restore_deletion(session, SLUG, number, at=LATER)
        assert everything(session) == before
    assert examine(pooled_twice).wrong == []


def test_a_version_of_the_pool_is_not_read_again_and_stays_while_a_judge_has_drawn_it(
    pooled_twice: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = pooled_twice.read(prepare_deletion, SLUG, DeletedKind.POOL, ["2"])

    def remove(session: Session) -> None:
        delete_it(session, SLUG, DeletedKind.POOL, ["2"], typed=None, actor=BY_COMMAND, at=NOW, prepared=prepared)

    def draw_and_remove(session: Session) -> None:
        topic = session.scalars(select(Topic).where(Topic.number == "2")).one()
        assert take(session, named(session, "jo"), topic)
        remove(session)

    with pytest.raises(ConflictError, match="held by judges"), pooled_twice.transaction() as session:
        draw_and_remove(session)
    read: list[str] = []
    pack = removal._packed_rows  # noqa: SLF001 - what reads rows

    def noting(session: Session, table: Table, *rest: object) -> object:
        read.append(table.name)
        return pack(session, table, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(removal, "_packed_rows", noting)
    with pooled_twice.transaction() as session:
        remove(session)
    assert "pool" in read
    assert not {"pool_item", "contribution"} & set(read)
