"""The corpus by program: searched for a topic, pooled from a search, changed texts, near-duplicates."""

import pytest
from build import labels
from calling import NEWS, Caller, Program

from annotator.storage import Database

pytestmark = pytest.mark.usefixtures("news")
CHANGED = f"{NEWS}/changed-documents"


def pool_of(ola: Program, topic: str) -> set[str]:
    pairs = (line.split() for line in ola.get(f"{NEWS}/pool/documents").text.splitlines())
    return {docno for number, docno in pairs if number == topic}


def test_a_search_marks_the_words_and_what_is_pooled_for_the_topic(program: Caller) -> None:
    ola = program("ola")
    found = ola.get(f"{NEWS}/search", q="title AND (b OR e)", topic="2").json
    assert (found["total"], found["not_indexed"]) == (2, 0)
    assert {hit["docno"]: hit["pooled"] for hit in found["hits"]} == {"b": False, "e": True}
    assert all("Title" in hit["marked"] for hit in found["hits"])


def test_a_search_tells_whether_more_match(program: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    ola = program("ola")
    assert ola.get(f"{NEWS}/search", q="text").json["more"] is False
    monkeypatch.setattr("annotator.storage.documents.search.MOST_RANKED", 3)
    found = ola.get(f"{NEWS}/search", q="text").json
    assert (found["total"], found["more"], len(found["hits"])) == (3, True, 3)


def test_a_search_has_pages(program: Caller) -> None:
    ola = program("ola")
    pages = [ola.get(f"{NEWS}/search", q="text", page=page, page_size=2).json for page in (1, 2, 3, 4)]
    assert [len(page["hits"]) for page in pages] == [2, 2, 1, 0]
    assert {hit["docno"] for page in pages for hit in page["hits"]} == set("abcde")


@pytest.mark.parametrize(
    ("query", "status"), [({"q": ""}, 422), ({}, 422), ({"q": '"'}, 422), ({"q": "a", "topic": "99"}, 404)]
)
def test_a_search_that_cannot_be_read_is_refused(program: Caller, query: dict[str, str], status: int) -> None:
    assert program("ola").get(f"{NEWS}/search", **query).status_code == status


def test_what_a_search_found_joins_the_pool_of_the_topic_and_nothing_else_does(program: Caller) -> None:
    ola = program("ola")
    refused = ola.post(f"{NEWS}/pool/found", {"topic": "2", "query": "title AND b", "docnos": ["b", "c"]})
    assert refused.status_code == 422
    assert pool_of(ola, "2") == {"a", "e"}
    added = ola.post(f"{NEWS}/pool/found", {"topic": "2", "query": "title AND (b OR e)", "docnos": ["b", "e"]})
    assert added.json == {"version": 2, "added": 1, "already_pooled": 1}
    assert pool_of(ola, "2") == {"a", "b", "e"}


@pytest.fixture
def changed(program: Caller, database: Database) -> Program:
    """Jo and Kim graded a and b, whose texts changed afterwards; Ola's program."""
    with database.transaction() as session:
        labels(session, "jo", "1 0 a 1\n1 0 b 1\n2 0 a 0\n")
        labels(session, "kim", "1 0 a 0\n")
    ola = program("ola")
    ola.send(f"{NEWS}/documents", "a\tTitle of a\tAnother text.\nb\tTitle of b\tYet another text.\n")
    return ola


def test_changed_documents_are_listed_with_the_judgements_of_the_old_text(changed: Program) -> None:
    rows = {row["docno"]: row["judgements"] for row in changed.get(CHANGED).json}
    assert {docno: len(judgements) for docno, judgements in rows.items()} == {"a": 3, "b": 1}
    assert {(one["topic"], one["judge"], one["grade"]) for one in rows["a"]} == {
        ("1", "jo", 1),
        ("1", "kim", 0),
        ("2", "jo", 0),
    }


def test_grades_of_changed_documents_are_kept_or_given_again(changed: Program) -> None:
    assert changed.post(f"{CHANGED}/confirm", {"docnos": ["b"]}).json == {"documents": 1}
    assert changed.post(f"{CHANGED}/confirm", {"docnos": ["c"]}).status_code == 404
    assert changed.post(f"{CHANGED}/requeue", {}).status_code == 422
    assert changed.post(f"{CHANGED}/requeue", {"docnos": None}).json == {"documents": 2}
    assert changed.get(CHANGED).json == []
    assert changed.get(f"{NEWS}/qrels").text == "1 0 b 1\n"


def test_near_duplicates_of_a_topic_have_their_grades(program: Caller, database: Database) -> None:
    ola = program("ola")
    words = " ".join(f"word{number}" for number in range(40))
    ola.send(f"{NEWS}/documents", f"a\tA\t{words}\nb\tB\t{words} more\n")
    with database.transaction() as session:
        labels(session, "jo", "1 0 a 1\n1 0 b 0\n")
    found = ola.get(f"{NEWS}/near-duplicates", topic="1").json
    [pair] = found["pairs"]
    assert {pair["first"]["docno"], pair["second"]["docno"]} == {"a", "b"}
    assert (pair["differs"], found["documents"], found["more"]) == (True, 4, False)
    assert pair["first"]["grades"] == [{"judge": "jo", "grade": 1}]
    assert ola.get(f"{NEWS}/near-duplicates", topic="1", at_least=0.1).status_code == 422
    assert ola.get(f"{NEWS}/near-duplicates", topic="99").status_code == 404
