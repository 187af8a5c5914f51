"""Two people at once, on both databases: each is served or refused in a sentence, and nothing contradicts."""

import threading
from collections.abc import Callable

import pytest
from build import LIMIT, NOW, SLUG, checked_run, labels, member, news, pool, pooled_news, run, stored, topic_file
from sqlalchemy import func, select, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from annotator.errors import AnnotatorError, BusyError, ConflictError, FileRefusedError
from annotator.evaluation.qrels.scale import parse_scale
from annotator.files import InputFile
from annotator.storage import Assignment, Database, Document, Judgement, Pool, PoolItem, Role, Run, Topic
from annotator.storage.collections.checking import examine
from annotator.storage.collections.collection import lock_open_collection
from annotator.storage.judging.drawing import wait_for_other_tabs
from annotator.storage.judging.leases import Decision, return_assignments
from annotator.storage.site import database as storage_database
from annotator.storage.tables.judging import LEASE
from annotator.workflows.collections import collection
from annotator.workflows.collections.collection import CollectionChange
from annotator.workflows.documents import documents
from annotator.workflows.judging import judgement_import, judging, recording
from annotator.workflows.people import members
from annotator.workflows.qrels import qrels
from annotator.workflows.topics import topic_editing, topics

Step = Callable[[Session], object]


def at_once(database: Database, *steps: Step) -> list[BaseException]:
    """Take all steps in transactions that begin together, and return what they raised."""
    barrier = threading.Barrier(len(steps))
    errors: list[BaseException] = []

    def take(step: Step) -> None:
        barrier.wait()
        try:
            with database.transaction() as session:
                step(session)
        except BaseException as error:  # noqa: BLE001 - returned to the test, in the thread it would be lost
            errors.append(error)

    threads = [threading.Thread(target=take, args=(step,)) for step in steps]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    return errors


def count(database: Database, table: type) -> int:
    with database.reading() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def test_two_uploads_that_name_the_same_new_documents_are_both_stored(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        topic_file(session)
        checked = [checked_run(session, tag, {"1": ["a", "b", "c"]}) for tag in ("one", "two")]
    store = [lambda session, one=one: stored(session, one) for one in checked]
    assert at_once(database, *store) == []
    assert (count(database, Run), count(database, Document)) == (2, 3)


def test_one_run_sent_twice_is_stored_once_and_refused_once(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        topic_file(session)
        checked = checked_run(session, "r", {"1": ["a"]})

    def store(session: Session) -> object:
        return stored(session, checked)

    [error] = at_once(database, store, store)
    assert isinstance(error, FileRefusedError)
    assert count(database, Run) == 1


def test_a_pool_built_by_a_double_click_has_one_version(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        topic_file(session)
        run(session, "r", {"1": ["a"]})
    assert at_once(database, pool, pool) == []
    assert (count(database, Pool), count(database, PoolItem)) == (1, 1)


def test_topics_documents_and_guidelines_sent_twice_are_stored_once(database: Database) -> None:
    with database.transaction() as session:
        news(session)
    read = topics.read_topics([InputFile("t.tsv", b"1\tcats\n")], unpacked_limit=LIMIT)
    texts = documents.read_documents([InputFile("d.tsv", b"a\ttext\n")], fields={}, unpacked_limit=LIMIT)
    steps: list[Step] = [
        lambda session: topics.import_topics(session, SLUG, read),
        lambda session: documents.import_documents(session, SLUG, texts),
        lambda session: collection.set_guidelines(session, SLUG, "Be fair.", made_by_id=None, made_at=NOW),
    ]
    for step in steps:
        assert at_once(database, step, step) == []
    assert (count(database, Topic), count(database, Document)) == (1, 1)


def test_a_member_added_twice_is_refused_once(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        member(session, "jo", Role.ORGANISER)

    def add(session: Session) -> None:
        members.add_member(session, SLUG, "jo", Role.JUDGE, added_at=NOW)

    [error] = at_once(database, add, add)
    assert isinstance(error, ConflictError)


def test_two_label_files_of_one_judge_are_both_taken_in(database: Database) -> None:
    with database.transaction() as session:
        pooled_news(session)
        member(session, "jo")
    errors = at_once(
        database,
        lambda session: labels(session, "jo", "1 0 a 1\n1 0 b 1\n", name="one"),
        lambda session: labels(session, "jo", "1 0 b 2\n1 0 c 1\n", name="two"),
    )
    assert errors == []
    with database.reading() as session:
        current = select(func.count()).select_from(Judgement).where(Judgement.current)
        assert session.scalar(current) == 3


def test_judges_who_sign_out_together_do_not_wait_for_ever(database: Database) -> None:
    with database.transaction() as session:
        pooled_news(session, judgements_wanted=2)
        jo, kim = member(session, "jo"), member(session, "kim")
        for judge, order in ((jo, "12"), (kim, "21")):
            for number in order:
                judging.next_task(session, SLUG, number, judge, now=NOW)
    for _ in range(5):
        errors = at_once(
            database,
            lambda session: return_assignments(session, jo),
            lambda session: return_assignments(session, kim),
        )
        assert errors == []
    with database.reading() as session:
        assert set(session.scalars(select(PoolItem.taken))) == {0}


def test_one_judge_in_two_tabs_draws_nothing_twice(database: Database) -> None:
    with database.transaction() as session:
        pooled_news(session)
        jo = member(session, "jo")

    def draw(session: Session) -> object:
        return judging.next_task(session, SLUG, "1", jo, now=NOW)

    assert at_once(database, draw, draw, draw) == []
    with database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Assignment)) == 4


def test_a_tab_that_opens_waits_for_one_that_sends_before_it_gives_back_what_expired(
    postgres_database: Database,
) -> None:
    with postgres_database.transaction() as session:
        pooled_news(session)
        jo = member(session, "jo")
        judging.next_task(session, SLUG, "1", jo, now=NOW)
    opens = threading.Thread(
        target=postgres_database.attempt,
        args=(lambda session: judging.next_task(session, SLUG, "1", jo, now=NOW + 2 * LEASE),),
    )
    with postgres_database.transaction() as session:
        # As in sending: first the account, then the assignments.
        wait_for_other_tabs(session, jo)
        opens.start()
        opens.join(timeout=0.5)
        assert opens.is_alive()
        free = session.scalars(select(Assignment.state).with_for_update(skip_locked=True)).all()
    opens.join(timeout=30)
    assert len(free) == 4


def test_what_another_draw_holds_is_waited_for_when_it_still_wants_a_judge(database: Database) -> None:
    with database.transaction() as session:
        pooled_news(session, judgements_wanted=2)
        judges = [member(session, name) for name in ("jo", "kim")]
    found: list[object] = []
    errors = at_once(
        database,
        *(
            lambda session, judge=judge: found.append(judging.next_task(session, SLUG, "1", judge, now=NOW))
            for judge in judges
        ),
    )
    assert errors == []
    assert None not in found


def test_a_grade_cannot_leave_the_scale_while_it_is_given(database: Database) -> None:
    with database.transaction() as session:
        pooled_news(session)
        jo = member(session, "jo")
        task = judging.next_task(session, SLUG, "1", jo, now=NOW)
        assert task is not None
    errors = at_once(
        database,
        lambda session: collection.change_collection(
            session, SLUG, CollectionChange(scale=parse_scale("0=No,1=Yes"), relevant_from=1)
        ),
        lambda session: recording.record_judgement(
            session, SLUG, task.assignment_id, jo, Decision(2), client_id="c", judged_at=NOW
        ),
    )
    # Whichever came first, the other is refused in a sentence.
    [error] = errors
    assert isinstance(error, AnnotatorError)


def test_labels_checked_before_the_scale_changed_are_refused(database: Database) -> None:
    with database.transaction() as session:
        pooled_news(session)
        checked = qrels_checked(session, "1 0 a 2\n")
    with database.transaction() as session:
        collection.change_collection(session, SLUG, CollectionChange(scale=parse_scale("0=No,1=Yes")))
    with database.transaction() as session, pytest.raises(FileRefusedError) as refusal:
        judgement_import.store_judgements(session, SLUG, checked, judge="jo", added_at=NOW)
    assert str(refusal.value.problems[0]) == "q:1: The grade 2 is not in the scale any more."


def test_labels_are_of_the_pool_as_it_is_when_they_are_stored(database: Database) -> None:
    with database.transaction() as session:
        pooled_news(session)
        lines = InputFile("q", b"1 0 a 2\n1 0 new 1\n2 0 newer 0\n")
        checked = judgement_import.check_judgements(session, SLUG, lines, add_to_pool=True, unpacked_limit=LIMIT)
    with database.transaction() as session:
        labels(session, "kim", "1 0 new 2\n", add_to_pool=True)
    with database.transaction() as session:
        stored = judgement_import.store_judgements(session, SLUG, checked, judge="jo", added_at=NOW)
    # The other import has pooled “new” meanwhile.
    assert (stored.added, stored.pooled) == (3, 1)
    with database.reading() as session:
        assert qrels.export_qrels(session, SLUG, judge="jo", made_at=NOW).qrels == b"1 0 a 2\n1 0 new 1\n2 0 newer 0\n"
    assert examine(database).wrong == []


def qrels_checked(session: Session, rows: str) -> judgement_import.CheckedJudgements:
    return judgement_import.check_judgements(session, SLUG, InputFile("q", rows.encode()), unpacked_limit=LIMIT)


def test_a_reading_sees_one_state_while_people_judge(database: Database) -> None:
    with database.transaction() as session:
        pooled_news(session)
        labels(session, "jo", "1 0 a 1\n")
    with database.reading() as reading:
        before = qrels.export_qrels(reading, SLUG, made_at=NOW)
        with database.transaction() as session:
            labels(session, "jo", "1 0 b 1\n", name="more")
        assert qrels.export_qrels(reading, SLUG, made_at=NOW) == before
    with database.reading() as reading:
        assert qrels.export_qrels(reading, SLUG, made_at=NOW) != before


def test_a_writer_who_waits_too_long_is_told_so(sqlite_database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage_database, "BUSY_TIMEOUT_MS", 50)
    impatient = Database(str(sqlite_database.engine.url))
    with sqlite_database.transaction() as session:
        session.execute(text("SELECT 1"))
        with pytest.raises(BusyError, match="try again"), impatient.transaction() as other:
            news(other)
    impatient.close()


def drop(session: Session) -> object:
    return topic_editing.drop_topics(session, SLUG, ["1"], reason="Hardly anything.")


def want_one(session: Session) -> None:
    collection.change_collection(session, SLUG, CollectionChange(judgements_wanted=1))


@pytest.mark.parametrize("change", [drop, want_one])
def test_a_grade_that_comes_while_an_organiser_takes_documents_back_is_stored(database: Database, change: Step) -> None:
    with database.transaction() as session:
        pooled_news(session, judgements_wanted=2)
        jo, kim = member(session, "jo"), member(session, "kim")
        judging.next_task(session, SLUG, "1", jo, now=NOW)
        # What was drawn last goes back when fewer judgements are wanted.
        task = judging.next_task(session, SLUG, "1", kim, now=NOW)
        assert task is not None
    judge = threading.Thread(
        target=database.attempt,
        args=(
            lambda session: recording.record_judgement(
                session, SLUG, task.assignment_id, kim, Decision(2), client_id="c", judged_at=NOW
            ),
        ),
    )
    with database.transaction() as session:
        lock_open_collection(session, SLUG, against_judging=True)
        # The judge has everything that does not wait for the organiser.
        judge.start()
        judge.join(timeout=0.3)
        assert judge.is_alive()
        change(session)
    judge.join(timeout=30)
    with database.reading() as session:
        assert session.scalars(select(Judgement.late)).all() == [True]


def test_who_gives_way_in_a_deadlock_does_it_again(postgres_database: Database) -> None:
    with postgres_database.transaction() as session:
        news(session, "one")
        news(session, "two")
    barrier = threading.Barrier(2)
    tries: list[str] = []

    def crossing(*slugs: str) -> Step:
        def lock_both(session: Session) -> None:
            tries.append(slugs[0])
            lock_open_collection(session, slugs[0])
            if len(tries) <= len(slugs):
                barrier.wait(timeout=30)
            lock_open_collection(session, slugs[1])

        return lock_both

    threads = [
        threading.Thread(target=postgres_database.attempt, args=(crossing(*slugs),))
        for slugs in (("one", "two"), ("two", "one"))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(tries) > 2  # one gave way at least, and came again


@pytest.mark.parametrize("state", ["40P01", "40001"])
def test_who_has_to_give_way_each_time_is_told_so(postgres_database: Database, state: str) -> None:
    tries: list[int] = []

    def give_way(session: Session) -> None:
        tries.append(1)
        session.execute(text(f"DO $$ BEGIN RAISE EXCEPTION 'blocked by process 7' USING ERRCODE = '{state}'; END $$"))

    with pytest.raises(BusyError, match="Another user changed the same data"):
        postgres_database.attempt(give_way)
    assert len(tries) == 3
    with pytest.raises(OperationalError), postgres_database.transaction() as session:
        # A fault whose words alone have “locked” in them stays one.
        session.execute(text("DO $$ BEGIN RAISE EXCEPTION 'locked' USING ERRCODE = '53200'; END $$"))
