"""Topics, documents and guidelines: what an import adds, changes and leaves alone."""

import pytest
from build import LIMIT, NOW, SLUG, document_file, news, pool, pooled_news, run, topic_file
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, FileRefusedError, InvalidValueError
from annotator.files import InputFile
from annotator.storage import Document
from annotator.workflows.collections import collection
from annotator.workflows.documents import documents
from annotator.workflows.documents.documents import DocumentImport, MissingDocument
from annotator.workflows.topics import topics
from annotator.workflows.topics.topics import TopicImport


def import_topics(session: Session, text: str) -> TopicImport:
    read = topics.read_topics([InputFile("t.tsv", text.encode())], unpacked_limit=LIMIT)
    return topics.import_topics(session, SLUG, read)


def import_documents(session: Session, text: str) -> DocumentImport:
    read = documents.read_documents([InputFile("d.jsonl", text.encode())], fields={}, unpacked_limit=LIMIT)
    return documents.import_documents(session, SLUG, read)


def test_a_topic_that_is_there_takes_the_new_words(session: Session) -> None:
    news(session)
    assert import_topics(session, "1\tcats\n2\tdogs\n") == TopicImport(added=2, changed=0, unchanged=0)
    assert import_topics(session, "1\tcats and kittens\n2\tdogs\n3\tbirds\n") == TopicImport(1, 1, 1)
    assert [(row.number, row.title) for row in topics.list_topics(session, SLUG)] == [
        ("1", "cats and kittens"),
        ("2", "dogs"),
        ("3", "birds"),
    ]


def test_topics_stand_in_their_natural_order(session: Session) -> None:
    news(session)
    import_topics(session, "10\tten\n9\tnine\nT2\tb\nT10\tc\n")
    assert [row.number for row in topics.list_topics(session, SLUG)] == ["9", "10", "T2", "T10"]


def test_a_topic_in_two_files_is_refused_with_both_names() -> None:
    files = [InputFile("one.tsv", b"7\tcats\n"), InputFile("two.tsv", b"8\tdogs\n7\tcats\n")]
    with pytest.raises(FileRefusedError) as refusal:
        topics.read_topics(files, unpacked_limit=LIMIT)
    assert [str(problem) for problem in refusal.value.problems] == ["two.tsv:2: Topic 7 is already in one.tsv."]


def test_a_collection_has_no_more_topics_than_it_may_have(session: Session) -> None:
    news(session)
    read = topics.read_topics([InputFile("t.tsv", b"1\tcats\n2\tdogs\n")], unpacked_limit=LIMIT)
    topics.import_topics(session, SLUG, read[:1], most=1)
    with pytest.raises(ConflictError, match="would have 2 topics, and at most 1 are possible"):
        topics.import_topics(session, SLUG, read, most=1)
    assert [row.number for row in topics.list_topics(session, SLUG)] == ["1"]


def test_a_document_named_by_a_run_is_filled_by_its_text(session: Session) -> None:
    news(session)
    topic_file(session)
    run(session, "alpha", {"1": ["a", "b"]})
    assert import_documents(session, '{"docno": "a", "body": "text of a"}\n{"docno": "z", "body": "z"}\n') == (
        DocumentImport(added=1, filled=1, changed=0, unchanged=0)
    )
    assert import_documents(session, '{"docno": "a", "body": "text of a"}\n') == DocumentImport(0, 0, 0, 1)
    assert import_documents(session, '{"docno": "a", "body": "new text"}\n') == DocumentImport(0, 0, 1, 0)
    assert session.scalar(select(Document.body).where(Document.docno == "a")) == "new text"


def test_pooled_documents_without_text_are_listed_with_their_topics(session: Session) -> None:
    news(session)
    topic_file(session, "2\tb\n10\tc\n")
    run(session, "alpha", {"10": ["x", "y"], "2": ["x", "deep"]})
    pool(session, depth=1)
    document_file(session, ["unpooled"])
    assert documents.missing_documents(session, SLUG) == [MissingDocument("x", ("2", "10"))]
    assert documents.count_missing_documents(session, SLUG) == 1
    document_file(session, ["x"])
    assert documents.missing_documents(session, SLUG) == []


@pytest.mark.parametrize("mapping", ["body", "text=body", "=x", "docno="])
def test_a_field_mapping_that_names_no_field_of_ours_is_refused(mapping: str) -> None:
    with pytest.raises(InvalidValueError, match="write OURS=THEIRS"):
        documents.parse_fields([mapping])


def test_a_field_mapping_may_hold_an_equals_sign() -> None:
    assert documents.parse_fields(["docno=id", "body=a=b"]) == {"docno": "id", "body": "a=b"}


def test_every_version_of_the_guidelines_is_kept_and_the_same_text_makes_none(session: Session) -> None:
    news(session)
    assert collection.show_guidelines(session, SLUG).number == 0
    assert collection.set_guidelines(session, SLUG, "Be strict.", made_by_id=None, made_at=NOW) == 1
    assert collection.set_guidelines(session, SLUG, "Be strict.", made_by_id=None, made_at=NOW) == 1
    assert collection.set_guidelines(session, SLUG, "Be kind.", made_by_id=None, made_at=NOW) == 2
    assert collection.show_guidelines(session, SLUG).text == "Be kind."
    with pytest.raises(InvalidValueError, match="cannot be empty"):
        collection.set_guidelines(session, SLUG, " \n", made_by_id=None, made_at=NOW)


def test_topics_show_the_size_of_their_pool(session: Session) -> None:
    pooled_news(session)
    assert [(row.number, row.pool_items) for row in topics.list_topics(session, SLUG)] == [("1", 4), ("2", 2)]


def test_the_same_text_from_two_addresses_is_one_text_and_a_new_address_alone_is_a_change(session: Session) -> None:
    news(session)
    text = '{"docno": "a", "body": "Same.", "url": "http://a.org/"}\n{"docno": "b", "body": "Same."}\n'
    import_documents(session, text)
    hashes = session.scalars(select(Document.text_hash)).all()
    assert hashes[0] == hashes[1] is not None
    assert import_documents(session, text.replace("a.org", "b.org")) == DocumentImport(0, 0, 1, 1)
    assert session.scalars(select(Document.url).where(Document.docno == "a")).one() == "http://b.org/"
