"""Labels of machines for any documents: stored packed, judgements where a document is pooled, now or later."""

import io
from datetime import timedelta

import numpy as np
import pytest
from build import LIMIT, NOW, SLUG, build, document_file, labels, member, news, pooled_news, run, topic_file
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, FileRefusedError, InvalidValueError
from annotator.evaluation.qrels.machine_labels import PackedLabels
from annotator.files import InputFile
from annotator.storage import (
    Collection,
    Database,
    DeletedKind,
    Document,
    Judgement,
    MachineLabels,
    Topic,
    TopicState,
    User,
)
from annotator.storage.agreement.machines import MachineFacts
from annotator.storage.collections.audit import Actor
from annotator.storage.collections.checking import examine
from annotator.storage.pools.pools import PoolRequest
from annotator.storage.tables.collections import Door
from annotator.workflows.agreement.machine_judges import machine_reports, mark_machine, mark_person
from annotator.workflows.collections.archive_export import Archiving, write_archive
from annotator.workflows.collections.archive_import import import_archive, open_archive
from annotator.workflows.collections.deletions import delete_it
from annotator.workflows.judging import judgement_import
from annotator.workflows.judging.judgement_files import judgement_file
from annotator.workflows.judging.judgement_import import CheckedJudgements, JudgementImport
from annotator.workflows.judging.machine_labels import add_labels, check_labels, machine_labels
from annotator.workflows.qrels.qrels import export_qrels

SIX = "1 Q0 a 2 0.9 gpt\n1 Q0 b 0 - gpt\n1 Q0 zz 0 0.25 gpt\n2 Q0 e 1 1 gpt\n2 Q0 yy ? 0.5 gpt\n2 Q0 a -1 - gpt\n"


def checked(session: Session, text: str, *, name: str = "m.txt", add_to_pool: bool = False) -> CheckedJudgements:
    file = InputFile(name, text.encode())
    return judgement_import.check_judgements(
        session, SLUG, file, by_machine=True, add_to_pool=add_to_pool, unpacked_limit=LIMIT
    )


def imported(
    session: Session, text: str, judge: str = "bot", *, name: str = "m.txt", add_to_pool: bool = False
) -> JudgementImport:
    found = checked(session, text, name=name, add_to_pool=add_to_pool)
    return judgement_import.store_judgements(session, SLUG, found, judge=judge, machine=MachineFacts(), added_at=NOW)


def labels_of(session: Session, judge: str = "bot", topic: str = "1") -> PackedLabels:
    judge_id = session.scalars(select(User.id).where(User.name == judge)).one()
    topic_id = session.scalars(select(Topic.id).where(Topic.number == topic)).one()
    return machine_labels(session, judge_id, [topic_id])[topic_id]


def by_docno(session: Session, labels: PackedLabels) -> dict[str, int]:
    docnos = dict(session.execute(select(Document.id, Document.docno)).all())
    return {docnos[id_]: grade for id_, grade in zip(labels.document_ids.tolist(), labels.grades.tolist(), strict=True)}


def test_labels_of_any_documents_are_stored_with_confidences(session: Session) -> None:
    pooled_news(session)
    assert imported(session, SIX) == JudgementImport(5, 0, 0, unjudged=1, pooled=0, outside=1, outside_pool=2)
    first = labels_of(session)
    assert by_docno(session, first) == {"a": 2, "b": 0, "zz": 0}
    assert first.confidences is not None
    np.testing.assert_allclose(first.confidences, [0.9, np.nan, 0.25], rtol=1e-6)
    second = labels_of(session, topic="2")
    assert by_docno(session, second) == {"e": 1}
    assert list(second.outside.values()) == ["?"]
    assert session.scalars(select(func.count(Judgement.id))).one() == 3
    [report] = machine_reports(session, SLUG).machines
    assert (report.labels, [tuple(label) for label in report.outside]) == (3, [("bot", "2", "yy", "?")])


def test_labels_off_the_scale_outside_the_pool_are_listed_until_a_grade_replaces_them(session: Session) -> None:
    pooled_news(session)
    imported(session, "1 0 zz 8\n1 0 a 9\n1 0 xx 7\n2 0 yy 9\n1 0 b 1\n")

    def listed(topics: list[str] | None = None) -> list[tuple[str, str, str]]:
        [report] = machine_reports(session, SLUG, topics=topics).machines
        return [(label.topic, label.docno, label.label) for label in report.outside]

    assert listed() == [("1", "a", "9"), ("1", "xx", "7"), ("1", "zz", "8"), ("2", "yy", "9")]
    assert listed(["2"]) == [("2", "yy", "9")]
    imported(session, "1 0 zz 1\n1 0 xx 6\n", name="again.txt")
    assert listed() == [("1", "a", "9"), ("1", "xx", "6"), ("2", "yy", "9")]
    imported(session, "1 0 xx 6\n", name="pooled.txt", add_to_pool=True)
    assert sorted(listed()) == [("1", "a", "9"), ("1", "xx", "6"), ("2", "yy", "9")]


def test_a_later_label_counts_and_nothing_is_lost(session: Session) -> None:
    pooled_news(session)
    imported(session, SIX)
    again = imported(session, "1 0 a 1\n1 0 b 0\n1 0 zz 2\n1 0 xx 1\n", name="again.txt")
    assert again == JudgementImport(added=1, changed=2, known=1, unjudged=0, pooled=0, outside_pool=2)
    assert by_docno(session, labels_of(session)) == {"a": 1, "b": 0, "zz": 2, "xx": 1}
    assert session.scalars(select(func.count(MachineLabels.id))).one() == 3
    assert imported(session, SIX) == JudgementImport(0, 0, 5, unjudged=1, pooled=0, outside=1)
    assert check_labels(session).count == 0


def test_an_import_that_is_deleted_leaves_the_labels_before_it(session: Session) -> None:
    pooled_news(session)
    imported(session, SIX)
    imported(session, "1 0 a 1\n1 0 zz 2\n", name="again.txt")
    later = timedelta(days=1)
    number = session.scalars(select(func.max(MachineLabels.label_file_id))).one()
    by_command = Actor(Door.COMMAND, "ola")
    kind, at = DeletedKind.LABELS, NOW + later
    _, foreseen = delete_it(session, SLUG, kind, [str(number)], typed=str(number), actor=by_command, at=at)
    assert foreseen.counts["judgements"] == 1
    assert by_docno(session, labels_of(session)) == {"a": 2, "b": 0, "zz": 0}
    assert check_labels(session).count == 0


def test_a_document_that_is_pooled_later_has_its_judgement_then(session: Session) -> None:
    news(session)
    topic_file(session)
    document_file(session, ["a", "b", "c"])
    imported(session, "1 0 a 2\n1 0 b ?\n1 0 q 1\n")
    imported(session, "1 0 a 1\n", name="again.txt")
    assert session.scalars(select(func.count(Judgement.id))).one() == 0
    run(session, "alpha", {"1": ["a", "b", "c"]})
    build(session, PoolRequest("depth", {"depth": "10"}))
    rows = session.execute(select(Judgement.note, Judgement.grade).where(Judgement.current)).all()
    assert sorted(map(tuple, rows)) == [("", 1), ("Outside the scale: ?", None)]
    [report] = machine_reports(session, SLUG).machines
    assert (report.labels, [label.docno for label in report.outside]) == (1, ["b"])
    assert check_labels(session).count == 0


def test_qrels_by_the_policy_of_a_machine_are_of_pooled_documents_only(session: Session) -> None:
    pooled_news(session)
    imported(session, SIX)
    session.execute(update(Collection).values(consensus_policy="judge:bot"))
    made = export_qrels(session, SLUG, made_at=NOW)
    assert made.qrels == b"1 0 a 2\n1 0 b 0\n2 0 e 1\n"


def test_labels_are_written_as_they_came(session: Session) -> None:
    pooled_news(session)
    imported(session, SIX)
    written = b"".join(judgement_file(session, SLUG, "judge").pieces)
    assert written.decode() == (
        "1 Q0 a 2 0.9 bot\n1 Q0 b 0 - bot\n1 Q0 zz 0 0.25 bot\n2 Q0 e 1 1 bot\n2 Q0 yy ? - bot\n"
    )
    imported(session, written.decode(), "other")
    again = b"".join(judgement_file(session, SLUG, "judge", judge="other").pieces)
    assert again == written.replace(b" bot", b" other")
    with pytest.raises(InvalidValueError, match="machine judges: bot, other"):
        judgement_file(session, SLUG, "judge")
    with pytest.raises(InvalidValueError, match="leave the judge out"):
        judgement_file(session, SLUG, "csv", judge="bot")


def test_a_person_has_labels_with_a_pseudonym(session: Session) -> None:
    pooled_news(session)
    member(session, "jo")
    labels(session, "jo", "1 Q0 a 2 0.5 x\n1 Q0 b 0 0.5 x\n1 Q0 c 0 0.5 x\n")
    assert b"".join(judgement_file(session, SLUG, "judge", judge="jo").pieces).startswith(b"1 Q0 a 2 - jo\n")
    hidden = b"".join(judgement_file(session, SLUG, "judge", judge="jo", secret="abc").pieces)
    assert hidden.startswith(b"1 Q0 a 2 - ")
    assert b" jo\n" not in hidden


def test_documents_join_the_pool_where_that_is_wanted(session: Session) -> None:
    pooled_news(session)
    assert imported(session, SIX, add_to_pool=True) == JudgementImport(5, 0, 0, unjudged=1, pooled=2, outside=1)
    assert session.scalars(select(func.count(Judgement.id))).one() == 5
    assert check_labels(session).count == 0


def test_a_judge_who_is_a_machine_already_needs_no_option(session: Session) -> None:
    pooled_news(session)
    imported(session, "1 0 a 2\n")
    labels(session, "bot", "1 0 b 1\n", name="more.txt")
    assert by_docno(session, labels_of(session)) == {"a": 2, "b": 1}
    assert session.scalars(select(func.count(MachineLabels.id))).one() == 2


def test_every_bad_line_is_named_and_nothing_stored(session: Session) -> None:
    pooled_news(session)
    session.execute(update(Topic).where(Topic.number == "2").values(state=TopicState.DRAFT))
    text = "1 Q0 a 2 0.9 gpt\n1 Q0 a 0 0.9 gpt\n9 Q0 b 0 0.9 gpt\n2 Q0 e 0 0.9 gpt\n1 Q0 c 0 2 gpt\n1 Q0 d 0 0.9\n"
    file = InputFile("m.txt", text.encode(), "judge")
    with pytest.raises(FileRefusedError) as refused:
        judgement_import.check_judgements(session, SLUG, file, by_machine=True, unpacked_limit=LIMIT)
    assert sorted(str(problem).split(": ", 1)[0] for problem in refused.value.problems) == [
        f"m.txt:{line}" for line in (2, 3, 4, 5, 6)
    ]
    with pytest.raises(FileRefusedError, match="larger than 10 bytes"):
        judgement_import.check_judgements(session, SLUG, file, by_machine=True, unpacked_limit=10)
    assert session.scalars(select(func.count(MachineLabels.id))).one() == 0


def test_what_left_the_scale_or_the_collection_since_the_check_is_refused(session: Session) -> None:
    pooled_news(session)
    found = checked(session, SIX)
    assert found.columns is not None
    found.columns.pieces["9"] = found.columns.pieces["2"]
    found.columns.pieces["1"][0][1][0] = 7
    with pytest.raises(FileRefusedError) as refused:
        judgement_import.store_judgements(session, SLUG, found, judge="bot", machine=MachineFacts(), added_at=NOW)
    assert "no topic 9" in str(refused.value.problems[-1])
    assert len(refused.value.problems) == 2


def test_labels_are_added_by_id_in_and_outside_the_pool(session: Session) -> None:
    pooled_news(session)
    imported(session, "1 0 a 2\n1 0 zz 0\n")
    ids = dict(session.execute(select(Document.docno, Document.id)).all())
    judge_id = session.scalars(select(User.id).where(User.name == "bot")).one()
    topic_id = session.scalars(select(Topic.id).where(Topic.number == "1")).one()
    given = [ids["zz"], ids["a"], ids["b"]]
    shares = np.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25], [0, 1, 0]])
    stored = add_labels(
        session, judge_id, topic_id, given, [2, 0, 1], probabilities=shares, outside={ids["c"]: "no idea"}, at=NOW
    )
    assert (stored.added, stored.changed, stored.known, stored.outside_pool) == (2, 2, 0, 1)
    found = labels_of(session)
    assert by_docno(session, found) == {"a": 0, "b": 1, "zz": 2}
    assert found.outside == {ids["c"]: "no idea"}
    assert found.probabilities is not None
    np.testing.assert_allclose(found.probabilities, shares[[1, 2, 0]], rtol=1e-6)
    jo = member(session, "jo")
    with pytest.raises(ConflictError, match="“jo” is a person"):
        add_labels(session, jo, topic_id, [ids["a"]], [0], at=NOW)


def test_a_machine_that_was_a_person_for_a_while_judges_what_was_pooled_then(session: Session) -> None:
    news(session)
    topic_file(session)
    document_file(session, ["a", "b"])
    imported(session, "1 0 a 2\n1 0 b 1\n")
    mark_person(session, "bot")
    run(session, "alpha", {"1": ["a", "b"]})
    build(session, PoolRequest("depth", {"depth": "10"}))
    assert session.scalars(select(func.count(Judgement.id))).one() == 0
    mark_machine(session, "bot", MachineFacts("m"))
    assert session.scalars(select(func.count(Judgement.id))).one() == 2
    assert check_labels(session).count == 0


def test_labels_go_to_another_site(database: Database) -> None:
    with database.transaction() as session:
        pooled_news(session)
        imported(session, SIX)
    with database.reading() as session:
        stream = io.BytesIO()
        write_archive(session, SLUG, stream, Archiving(NOW, "0.1.0"))
        before = by_docno(session, labels_of(session))
    with open_archive("news.zip", io.BytesIO(stream.getvalue()), limit=LIMIT) as bundle:
        import_archive(database, bundle, slug="again", at=NOW)
    with database.transaction() as session:
        topic = select(Topic.id).join(Collection, Collection.id == Topic.collection_id).where(Topic.number == "1")
        topic_id = session.scalars(topic.where(Collection.slug == "again")).one()
        judge_id = session.scalars(select(User.id).where(User.name == "bot")).one()
        assert by_docno(session, machine_labels(session, judge_id, [topic_id])[topic_id]) == before
        assert check_labels(session).count == 0
        row = session.scalars(select(MachineLabels).order_by(MachineLabels.id)).first()
        assert row is not None
        row.grades = row.grades[:-1]
    assert [str(one) for one in examine(database, further=[check_labels]).wrong] == [
        "Labels of machines that cannot be read: 1"
    ]
    with database.transaction() as session:
        session.execute(update(MachineLabels).values(grades=b"", documents=b"", confidences=None, outside=[]))
        row = session.scalars(select(MachineLabels).order_by(MachineLabels.id)).first()
        assert row is not None
        item = session.scalars(select(Document.id).where(Document.docno == "c")).first()
        row.documents, row.grades = int(item or 0).to_bytes(4, "little"), b"\x01\x00"
    assert [str(one) for one in examine(database, further=[check_labels]).wrong] == [
        "Labels of machines for pooled documents that are no judgements: 1"
    ]
