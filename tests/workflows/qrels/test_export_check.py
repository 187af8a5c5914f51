"""What is exported is compared with the judgements, not only with what a worker has packed of them."""

import pytest
from build import NOW, SLUG, labels, pooled_news
from sqlalchemy import select, update

from annotator.storage import Database, Topic, TopicJudgements
from annotator.workflows.judging.topic_judgements import pack_changed_topics
from annotator.workflows.qrels import qrels
from annotator.workflows.qrels.qrels import ExportMismatchError, export_qrels


@pytest.fixture
def packed(database: Database) -> Database:
    with database.transaction() as session:
        pooled_news(session)
        labels(session, "jo", "1 0 a 2\n1 0 b 0\n")
    assert pack_changed_topics(database)
    return database


def test_qrels_are_those_of_the_judgements_before_and_after_packing(packed: Database) -> None:
    with packed.transaction() as session:
        before = export_qrels(session, SLUG, made_at=NOW)
        assert before.qrels == b"1 0 a 2\n1 0 b 0\n"
        labels(session, "kim", "1 0 a 1\n2 0 e 1\n")
        now = export_qrels(session, SLUG, policy="lowest", made_at=NOW)
    pack_changed_topics(packed)
    with packed.reading() as session:
        assert export_qrels(session, SLUG, policy="lowest", to_keep=True, made_at=NOW) == now
        assert now.qrels == b"1 0 a 1\n1 0 b 0\n2 0 e 1\n"
        assert sorted(grade for _, _, grade in now.grades) == [0, 1, 1]


def test_wrongly_packed_judgements_are_never_kept(packed: Database) -> None:
    with packed.transaction() as session:
        session.execute(update(TopicJudgements).where(TopicJudgements.docnos != b"").values(docnos=b"a\nc"))
    with packed.reading() as session, pytest.raises(ExportMismatchError, match="differ from the database in 2 pairs"):
        export_qrels(session, SLUG, to_keep=True, made_at=NOW)


def test_a_file_that_is_not_what_was_settled_is_refused(packed: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qrels, "settled_qrels", lambda *_: b"1 0 a 1\n1 0 b 0\n")
    with packed.reading() as session, pytest.raises(ExportMismatchError, match="in 1 pairs"):
        export_qrels(session, SLUG, made_at=NOW)


def test_a_file_is_compared_topic_by_topic_also_with_topics_that_it_lacks(
    packed: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qrels, "LINES_AT_ONCE", 1)
    monkeypatch.setattr(qrels, "TOPICS_AT_ONCE", 1)
    with packed.transaction() as session:
        labels(session, "kim", "1 0 a 1\n2 0 e 1\n")
    pack_changed_topics(packed)
    with packed.reading() as session:
        made = export_qrels(session, SLUG, policy="lowest", to_keep=True, made_at=NOW)
        assert made.qrels == b"1 0 a 1\n1 0 b 0\n2 0 e 1\n"
        whole = export_qrels(session, SLUG, policy="lowest", with_unjudged=True, made_at=NOW)
        assert b"2 0 e 1\n" in whole.qrels
    with packed.transaction() as session:
        second = select(Topic.id).where(Topic.number == "2").scalar_subquery()
        emptied = {"judgements": b"", "seconds": b"", "docnos": b""}
        session.execute(update(TopicJudgements).where(TopicJudgements.topic_id == second).values(emptied))
    with packed.reading() as session, pytest.raises(ExportMismatchError, match="differ from the database in 1 pairs"):
        export_qrels(session, SLUG, policy="lowest", to_keep=True, made_at=NOW)
