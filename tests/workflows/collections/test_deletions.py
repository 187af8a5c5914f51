"""Deleted as if it had never been, and restored just as it was."""

import json
import zlib
from dataclasses import replace
from datetime import timedelta

import pytest
from build import NOW, SLUG, document_file, labels, member, news, pool, pooled_news, run, topic_file
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.storage import Base, Collection, Database, DeletedKind, Document, Judgement, PoolItem, Topic
from annotator.storage.collections.audit import Actor
from annotator.storage.collections.checking import examine_collection
from annotator.storage.judging.leases import Decision, return_assignments
from annotator.storage.tables.collections import DeletedPart, Door
from annotator.storage.tables.topics import TopicRevision
from annotator.workflows.collections import collection
from annotator.workflows.collections.collection_list import list_collections
from annotator.workflows.collections.deletions import delete_it, foresee_deletion
from annotator.workflows.collections.restoring import (
    begin_removal,
    finish_removals,
    list_deleted_collections,
    list_deletions,
    list_label_imports,
    read_deletion,
    restore_collection,
    restore_deletion,
)
from annotator.workflows.documents import search
from annotator.workflows.judging import judging, recording
from annotator.workflows.leaderboard import leaderboard
from annotator.workflows.qrels import qrels, qrels_versions
from annotator.workflows.topics import topics

# What a deletion leaves behind, and what only counts changes.
APART = {"audit_event", "deletion", "deleted_part", "topic_revision", "user"}
LATER = NOW + timedelta(hours=2)
KINDS = DeletedKind
BY_COMMAND = Actor(Door.COMMAND, "ola")


def delete(session: Session, kind: DeletedKind, *subjects: str, typed: str | None = None) -> int:
    number, _ = delete_it(session, SLUG, kind, subjects, typed=typed, actor=BY_COMMAND, at=LATER)
    return number


def everything(session: Session) -> dict[str, list[tuple[object, ...]]]:
    session.flush()
    return {
        table.name: [tuple(row) for row in session.execute(select(table).order_by(*table.primary_key))]
        for table in Base.metadata.sorted_tables
        if table.name not in APART
    }


def qrels_lines(session: Session) -> list[str]:
    return qrels.export_qrels(session, SLUG, made_at=NOW).qrels.decode().splitlines()


def revisions_of_topics(session: Session) -> dict[str, int]:
    rows = select(Topic.number, func.sum(TopicRevision.revision)).join(TopicRevision).group_by(Topic.number)
    return {number: revision for number, revision in session.execute(rows)}


def imports(session: Session) -> list[str]:
    return [str(one.number) for one in list_label_imports(session, SLUG)]


def fill(session: Session) -> None:
    """Two versions of the pool, labels of two judges, and a correction of some."""
    pooled_news(session, judgements_wanted=2)
    labels(session, "nist", "1 0 a 1\n1 0 b 0\n2 0 e 1\n")
    labels(session, "trec", "1 0 a 0\n")
    labels(session, "nist", "1 0 a 2\n1 0 b 0\n", name="corrected.txt")
    document_file(session, ["x"])
    run(session, "gamma", {"1": ["x", "y"]})
    pool(session, 5)


CASES = {
    "topic": (KINDS.TOPIC, "1", "1"),
    "pool": (KINDS.POOL, "2", None),
    "documents": (KINDS.DOCUMENTS, "c", None),
    "labels": (KINDS.LABELS, "1", None),
    "corrected labels": (KINDS.LABELS, "3", None),
    "labels of another": (KINDS.LABELS, "2", None),
}


@pytest.mark.parametrize("case", CASES)
def test_what_was_deleted_comes_back_just_as_it_was(session: Session, case: str) -> None:
    fill(session)
    kind, subject, typed = CASES[case]
    before, written = everything(session), qrels_lines(session)
    number = delete(session, kind, subject, typed=typed)
    assert everything(session) != before
    assert examine_collection(session, session.scalars(select(Collection.id)).one()) == []
    assert [one.number for one in list_deletions(session, SLUG, days=30)] == [number]
    assert restore_deletion(session, SLUG, number, at=LATER) is kind
    assert everything(session) == before
    assert qrels_lines(session) == written
    assert list_deletions(session, SLUG, days=30) == []


def test_what_was_read_before_is_restored_once_and_in_its_topics_only(session: Session) -> None:
    fill(session)
    before = everything(session)
    number = delete(session, KINDS.LABELS, "2")
    saved = read_deletion(session, SLUG, number)
    revisions = revisions_of_topics(session)
    restore_deletion(session, SLUG, number, read=saved, at=LATER)
    assert everything(session) == before
    later = revisions_of_topics(session)
    assert [number for number in revisions if later[number] != revisions[number]] == ["1"]
    for again in (None, saved):
        with pytest.raises(NotFoundError, match="no deletion"):
            restore_deletion(session, SLUG, number, read=again, at=LATER)
    with pytest.raises(NotFoundError, match="no deletion"):
        read_deletion(session, SLUG, number)


def test_a_deletion_of_an_earlier_version_is_restored(session: Session) -> None:
    fill(session)
    before = everything(session)
    number = delete(session, KINDS.TOPIC, "1", typed="1")
    for part in session.scalars(select(DeletedPart)):
        names, *rows = json.loads(zlib.decompress(part.content))
        objects = [dict(zip(names, row, strict=True)) for row in rows]
        # An object a line, and from before an item had the time of its last return to the queue.
        if part.table_name == "pool_item" and part.column_name is None:
            objects = [{name: value for name, value in one.items() if name != "requeued_at"} for one in objects]
        part.content = zlib.compress("\n".join(map(json.dumps, objects)).encode())
    restore_deletion(session, SLUG, number, at=LATER)
    assert everything(session) == before


def test_without_its_import_a_label_is_as_if_it_had_never_come(session: Session) -> None:
    fill(session)
    delete(session, KINDS.LABELS, "3")
    current = select(Judgement.grade).join(PoolItem, PoolItem.id == Judgement.pool_item_id).join(Document)
    assert set(session.scalars(current.where(Document.docno == "a", Judgement.current))) == {1, 0}
    delete(session, KINDS.LABELS, "1")
    assert set(session.scalars(current.where(Document.docno == "a", Judgement.current))) == {0}
    assert imports(session) == ["2"]
    # A deleted file can be imported again, and the first deletion then has nowhere to go.
    labels(session, "nist", "1 0 a 1\n1 0 b 0\n2 0 e 1\n")
    first = list_deletions(session, SLUG, days=30)[0].number
    with pytest.raises(ConflictError, match="cannot be restored now"):
        restore_deletion(session, SLUG, first, at=LATER)


def test_what_the_judge_judged_before_and_after_an_import_stays(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    task = judging.next_task(session, SLUG, "1", jo, now=NOW)
    assert task is not None
    record(session, task.assignment_id, jo, 1, "before")
    labels(session, "jo", f"1 0 {task.docno} 0\n1 0 {next(d for d in 'abcd' if d != task.docno)} 1\n")
    record(session, task.assignment_id, jo, 2, "after")
    number = delete(session, KINDS.LABELS, imports(session)[0])
    history = session.scalars(select(Judgement).order_by(Judgement.id)).all()
    assert [(one.client_id, one.grade, one.current) for one in history] == [("before", 1, False), ("after", 2, True)]
    assert history[1].replaces_id == history[0].id
    restore_deletion(session, SLUG, number, at=LATER)
    session.expire_all()
    history = session.scalars(select(Judgement).order_by(Judgement.id)).all()
    assert [one.grade for one in history if one.current] == [1, 2]
    assert history[-1].replaces_id == history[1].id


def record(session: Session, assignment_id: int, judge_id: int, grade: int, client_id: str) -> None:
    decision = Decision(grade)
    recording.record_judgement(
        session, SLUG, assignment_id, judge_id, decision, client_id=client_id, judged_at=NOW + timedelta(minutes=1)
    )


def test_an_import_that_made_the_newest_version_of_the_pool_takes_it_along(session: Session) -> None:
    pooled_news(session)
    before = everything(session)
    labels(session, "nist", "1 0 a 1\n1 0 z 2\n", add_to_pool=True)
    delete(session, KINDS.LABELS, imports(session)[0])
    after = everything(session)
    # The docno and the judge's account stay: others may have come to refer to them.
    assert {name for name in before if before[name] != after[name]} == {"document"}


def test_scores_are_those_of_before_the_import(session: Session) -> None:
    pooled_news(session)
    labels(session, "nist", "1 0 a 1\n")
    before = leaderboard.build_leaderboard(session, SLUG, ["AP", "P@5"])
    labels(session, "nist", "1 0 a 0\n1 0 b 1\n2 0 e 1\n", name="wrong.txt")
    assert leaderboard.build_leaderboard(session, SLUG, ["AP", "P@5"]).rows != before.rows
    delete(session, KINDS.LABELS, imports(session)[0])
    assert leaderboard.build_leaderboard(session, SLUG, ["AP", "P@5"]).rows == before.rows


def test_a_version_of_the_pool_that_somebody_judged_or_that_is_not_the_newest_stays(session: Session) -> None:
    fill(session)
    with pytest.raises(ConflictError, match="Version 2 of the pool was made after version 1"):
        delete(session, KINDS.POOL, "1")
    labels(session, "trec", "1 0 y 1\n")
    with pytest.raises(ConflictError, match="Judgements of documents that came with version 2 of the pool: 1"):
        delete(session, KINDS.POOL, "2")
    with pytest.raises(NotFoundError):
        delete(session, KINDS.POOL, "3")


def test_a_version_of_the_pool_that_a_judge_has_in_hand_stays(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    assert judging.next_task(session, SLUG, "1", jo, now=NOW) is not None
    with pytest.raises(ConflictError, match="held by judges"):
        delete(session, KINDS.POOL, "1")
    return_assignments(session, jo)
    with pytest.raises(ConflictError, match="still open to them"):
        delete(session, KINDS.POOL, "1")
    at = NOW + timedelta(days=2)
    delete_it(session, SLUG, KINDS.POOL, ["1"], typed=None, actor=BY_COMMAND, at=at)
    assert collection.count_collection(session, SLUG).pool_items == 0


def test_the_next_version_of_the_pool_has_another_number(session: Session) -> None:
    fill(session)
    number = delete(session, KINDS.POOL, "2")
    assert pool(session, 5).version == 3
    with pytest.raises(ConflictError, match="cannot be restored now"):
        restore_deletion(session, SLUG, number, at=LATER)


def test_ids_are_never_given_out_twice(session: Session) -> None:
    fill(session)
    topic_file(session, "9\tlast topic\n")
    last = session.scalars(
        select(Base.metadata.tables["topic"].c.id).order_by(Base.metadata.tables["topic"].c.id)
    ).all()[-1]
    delete(session, KINDS.TOPIC, "9")
    topic_file(session, "10\tanother topic\n")
    assert max(session.scalars(select(Topic.id))) > last


def test_a_topic_with_judgements_wants_its_number_typed(session: Session) -> None:
    fill(session)
    foreseen = foresee_deletion(session, SLUG, KINDS.TOPIC, ["1"], at=LATER)
    assert (foreseen.to_type, foreseen.counts["judgements"], foreseen.counts["judges"]) == ("1", 4, 2)
    with pytest.raises(InvalidValueError, match="type “1”"):
        delete(session, KINDS.TOPIC, "1", typed="2")
    delete(session, KINDS.TOPIC, "1", typed="1")
    assert [row.number for row in topics.list_topics(session, SLUG)] == ["2"]
    assert all(line.startswith("2 ") for line in qrels_lines(session))


def test_a_topic_of_kept_qrels_is_dropped_and_not_deleted(session: Session) -> None:
    fill(session)
    made = qrels.export_qrels(session, SLUG, made_at=NOW)
    qrels_versions.keep_qrels(session, SLUG, made, made_by_id=None, made_at=NOW)
    with pytest.raises(ConflictError, match="drop the topic instead"):
        delete(session, KINDS.TOPIC, "1", typed="1")


def test_a_version_of_the_pool_that_kept_qrels_were_made_from_is_not_deleted(session: Session) -> None:
    pooled_news(session)
    labels(session, "nist", "1 0 a 1\n")
    run(session, "gamma", {"1": ["y"]})
    pool(session)
    made = qrels.export_qrels(session, SLUG, made_at=NOW)
    qrels_versions.keep_qrels(session, SLUG, made, made_by_id=None, made_at=NOW)
    with pytest.raises(ConflictError, match="was made from version 2 of the pool"):
        delete(session, KINDS.POOL, "2")


def test_documents_that_were_judged_stay_and_others_lose_their_text(session: Session) -> None:
    fill(session)
    with pytest.raises(ConflictError, match="a, b"):
        delete(session, KINDS.DOCUMENTS, "a", "b", "c")
    number = delete(session, KINDS.DOCUMENTS, "c", "d")
    assert found(session) == {"a", "b", "e", "x"}
    document_file(session, ["c"])
    with pytest.raises(ConflictError, match="“c” has a text now"):
        restore_deletion(session, SLUG, number, at=LATER)


def test_documents_are_found_again_once_they_are_restored(session: Session) -> None:
    fill(session)
    number = delete(session, KINDS.DOCUMENTS, "c", "d")
    restore_deletion(session, SLUG, number, at=LATER)
    assert found(session) == {"a", "b", "c", "d", "e", "x"}


def found(session: Session) -> set[str]:
    return {hit.docno for hit in search.find_documents(session, SLUG, "text", topic=None, most=100).hits}


def test_a_collection_is_found_by_nobody_until_it_is_restored(session: Session) -> None:
    fill(session)
    before = everything(session)
    with pytest.raises(InvalidValueError, match="type “news”"):
        delete(session, KINDS.COLLECTION, typed="other")
    delete(session, KINDS.COLLECTION, typed=SLUG)
    assert list_collections(session) == []
    with pytest.raises(NotFoundError):
        collection.show_collection(session, SLUG)
    with pytest.raises(ConflictError, match="can still be restored"):
        news(session)
    assert [one.slug for one in list_deleted_collections(session, days=30)] == [SLUG]
    restore_collection(session, SLUG, at=LATER)
    session.expire_all()
    assert everything(session) == before


@pytest.mark.parametrize("case", [(KINDS.COLLECTION, []), (KINDS.POOL, ["2"]), (KINDS.TOPIC, ["1"])])
def test_a_deletion_is_foreseen_while_somebody_else_writes(
    database: Database, case: tuple[DeletedKind, list[str]]
) -> None:
    with database.transaction() as session:
        fill(session)
    with database.transaction() as writing, database.reading() as session:
        writing.execute(update(Topic).values(title="Held"))
        assert foresee_deletion(session, SLUG, *case, at=LATER).counts["documents"]


def test_the_counts_of_a_collection_are_those_that_were_foreseen(session: Session) -> None:
    fill(session)
    foreseen = replace(foresee_deletion(session, SLUG, KINDS.COLLECTION, [], at=LATER), counts={"topics": 7})
    _, done = delete_it(session, SLUG, KINDS.COLLECTION, [], typed=SLUG, actor=BY_COMMAND, at=LATER, foreseen=foreseen)
    assert done.counts == {"topics": 7}


def test_what_is_too_old_is_removed_for_good(database: Database) -> None:
    with database.transaction() as session:
        fill(session)
        number = delete(session, KINDS.TOPIC, "2", typed="2")
        assert begin_removal(session, before=LATER, at=LATER) == 0
        assert begin_removal(session, before=LATER + timedelta(seconds=1), at=LATER) == 1
        with pytest.raises(NotFoundError):
            restore_deletion(session, SLUG, number, at=LATER)
    finish_removals(database)
    with database.reading() as session:
        assert session.execute(select(Base.metadata.tables["deleted_part"])).all() == []


def test_a_collection_that_is_removed_for_good_leaves_the_others_and_its_name(database: Database) -> None:
    with database.transaction() as session:
        news(session, "other")
        topic_file(session, slug="other")
        others = everything(session)
        fill(session)
        delete(session, KINDS.COLLECTION, typed=SLUG)
        begin_removal(session, before=LATER + timedelta(days=1), at=LATER)
        with pytest.raises(NotFoundError):
            restore_collection(session, SLUG, at=LATER)
    finish_removals(database)
    with database.transaction() as session:
        left = everything(session)
        assert {name for name in left if left[name] != others[name]} == {"collection"}
        assert session.scalars(select(Collection.slug).order_by(Collection.id)).all()[0] == "other"
        news(session)
