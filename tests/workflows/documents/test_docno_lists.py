"""The list of valid docnos of a collection: kept, replaced, removed, and what runs are compared with."""

import pytest
from build import LIMIT, NOW, SLUG, checked_run, document_file, news, run_text, stored, topic_file
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError
from annotator.files import InputFile
from annotator.storage import DocnoListPart, Document
from annotator.storage.documents.docno_lists import StoredList
from annotator.workflows.collections import collection
from annotator.workflows.documents import docno_lists
from annotator.workflows.documents.docno_lists import DocnosImport
from annotator.workflows.runs.file_checks import check_run_files

UNKNOWN = (
    "Docnos that are not in the list of valid docnos: 1 (x); lines with them: 1; first lines: 2; topics with them: 1; "
    "lines by topic: 1: 1."
)


def import_docnos(session: Session, text: str, name: str = "ids.txt") -> DocnosImport:
    read = docno_lists.read_docnos([InputFile(name, text.encode())], unpacked_limit=LIMIT)
    return docno_lists.import_docnos(session, SLUG, read, files=[name], at=NOW)


def warnings(session: Session) -> list[str]:
    [checked] = checked_run(session, "t", {"1": ["a", "x"], "2": ["a"]})
    return list(map(str, checked.warnings))


@pytest.fixture
def two_topics(session: Session) -> Session:
    """A collection with two topics."""
    news(session)
    topic_file(session)
    return session


def test_a_list_takes_the_place_of_an_earlier_one_and_stores_no_document(two_topics: Session) -> None:
    assert docno_lists.docno_list(two_topics, SLUG) is None
    assert import_docnos(two_topics, "a\nb\na\n") == DocnosImport(docnos=2, repeated=1)
    assert import_docnos(two_topics, "c\n", "more.txt") == DocnosImport(docnos=1, repeated=0)
    assert docno_lists.docno_list(two_topics, SLUG) == StoredList(1, "more.txt", NOW)
    assert b"".join(docno_lists.export_docnos(two_topics, SLUG)) == b"c\n"
    assert two_topics.scalar(select(func.count()).select_from(DocnoListPart)) == 1
    assert two_topics.scalar(select(func.count()).select_from(Document)) == 0


def test_runs_are_compared_with_the_list_rather_than_with_the_texts(two_topics: Session) -> None:
    document_file(two_topics, ["x"])
    assert warnings(two_topics) == ["Documents that are not in the corpus: 1; lines with them: 2; first lines: 1, 3."]
    import_docnos(two_topics, "a\nb\n")
    assert warnings(two_topics) == [UNKNOWN]
    import_docnos(two_topics, "a\nx\n")
    assert warnings(two_topics) == []
    docno_lists.remove_docnos(two_topics, SLUG)
    assert len(warnings(two_topics)) == 1


def test_a_run_with_other_docnos_is_stored_with_its_warning(two_topics: Session) -> None:
    import_docnos(two_topics, "a\n")
    [receipt] = stored(two_topics, checked_run(two_topics, "t", {"1": ["a", "x"], "2": ["a"]}))
    assert list(map(str, receipt.sentences)) == [UNKNOWN]


def test_what_is_not_there_can_be_neither_shown_nor_removed(two_topics: Session) -> None:
    for refused in (docno_lists.show_docno_list, docno_lists.export_docnos, docno_lists.remove_docnos):
        with pytest.raises(NotFoundError, match="The collection has no list of docnos"):
            refused(two_topics, SLUG)


def test_the_list_of_a_closed_collection_stays(two_topics: Session) -> None:
    import_docnos(two_topics, "a\n")
    collection.close_collection(two_topics, SLUG)
    with pytest.raises(ConflictError):
        import_docnos(two_topics, "b\n")
    with pytest.raises(ConflictError):
        docno_lists.remove_docnos(two_topics, SLUG)
    assert b"".join(docno_lists.export_docnos(two_topics, SLUG)) == b"a\n"


def test_runs_are_compared_with_a_file_of_docnos_without_a_collection() -> None:
    topics = InputFile("topics.tsv", b"1\tfirst\n2\tsecond\n")
    read = docno_lists.read_docnos([InputFile("ids.txt", b"a\n")], unpacked_limit=LIMIT)
    file = InputFile("t.run", run_text("t", {"1": ["a", "x"], "2": ["a"]}))
    [checked] = check_run_files([file], topics, most_documents=9, unpacked_limit=LIMIT, docnos=read).runs
    assert list(map(str, checked.warnings)) == [UNKNOWN]
