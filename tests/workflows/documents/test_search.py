"""Searching: both databases find the same, and what that is can be worked out by hand from the words alone."""

import json

import pytest
from build import LIMIT, NOW, SLUG, member, news, pooled_news, run, topic_file
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, event, func, select
from sqlalchemy.orm import Session
from thorough import examples

from annotator.errors import InvalidValueError, NotAllowedError, NotFoundError
from annotator.evaluation.search.search_query import All, AnyOf, Asked, Query, parse_query
from annotator.evaluation.search.search_text import indexed_words
from annotator.files import InputFile
from annotator.storage import Database, Document, DocumentWords
from annotator.storage.judging.leases import Decision
from annotator.workflows.collections.collection import CollectionChange, change_collection
from annotator.workflows.documents import documents, search
from annotator.workflows.judging import judging, recording
from annotator.workflows.topics import topic_editing

TEXTS = {
    "ko1": ("검색시스템의 평가", "정보 검색시스템의 성능을 평가한다."),
    "ko2": ("적합성 판정", "판정자가 문서를 읽고 판단한다. 재검색은 하지 않는다."),
    "ja1": ("情報検索", "情報検\n索システムの評価について述べる。"),
    "zh1": ("信息检索", "信息检索系统的评价。"),
    "en1": ("Retrieval evaluation", "The evaluation of retrieval systems, by e-mail and café."),
    "en2": ("Cats", "The cat sat on the mat; cats evaluate mats. Café!"),
    "en3": ("Café society", "RAG검색 pipelines use x86 and don't sit: the evaluators retrieve."),
    "html": ("Page", "<p>The <b>markup</b> cat</p><script>hidden()</script>"),
    "odd": ("!?", '\' OR 1=1 -- \\ "quoted" (paren) 50% a:b * NEAR'),
}
LONG = "x " * 20_000 + "needle in haystack " + "of the " * 400 + "of needles"


def corpus(session: Session, texts: dict[str, tuple[str, str]], *, slug: str = SLUG) -> None:
    """Documents by docno, with titles and bodies."""
    lines = "".join(
        json.dumps({"docno": docno, "title": title, "body": body}) + "\n" for docno, (title, body) in texts.items()
    )
    read = documents.read_documents([InputFile("d.jsonl", lines.encode())], fields={}, unpacked_limit=LIMIT)
    documents.import_documents(session, slug, read)


def found(session: Session, query: str, *, slug: str = SLUG) -> list[str]:
    """The docnos a query finds, by docno."""
    page = search.find_documents(session, slug, query, most=1000)
    assert page.total == len(page.hits)
    return sorted(hit.docno for hit in page.hits)


@pytest.fixture
def library(database: Database) -> Database:
    """A database with the texts above in the collection of the tests."""
    with database.transaction() as session:
        news(session)
        topic_file(session)
        corpus(session, TEXTS)
    return database


# What each query finds.
FINDS = {
    # The stock tokenizers miss these: inside a word, with an ending, of two signs, in another script.
    "검색": ["en3", "ko1", "ko2"],
    "평가": ["ko1"],
    "検索": ["ja1"],
    "検": ["ja1"],
    "索シ": ["ja1"],
    "가": ["ko1", "ko2"],
    "시스템": ["ko1"],
    "システム": ["ja1"],
    "评价": ["zh1"],
    "評価": ["ja1"],
    "검색시스템": ["ko1"],
    '"정보 검색"': ["ko1"],
    "정보검색": [],
    "검색 NOT 평가": ["en3", "ko2"],
    "rag검색": ["en3"],
    "cafe": ["en1", "en2", "en3"],
    "CAFÉ": ["en1", "en2", "en3"],
    "cat": ["en2", "html"],
    "cat*": ["en2", "html"],
    "evaluat*": ["en1", "en2", "en3"],
    "retrieval evaluation": ["en1"],
    '"retrieval evaluation"': ["en1"],
    '"evaluation retrieval"': [],
    '"of retrieval sys"*': ["en1"],
    "cat OR retrieval": ["en1", "en2", "html"],
    "the NOT (cat OR pipelines)": ["en1"],
    'the NOT "cat sat"': ["en1", "en3", "html"],
    "(cat OR retrieval) (mat OR e-mail)": ["en1", "en2"],
    "e-mail": ["en1"],
    "don't": ["en3"],
    "x86": ["en3"],
    "hidden": [],
    "markup": ["html"],
    "near": ["odd"],
    "1=1": ["odd"],
    # No phrase begins in the title and ends in the body.
    '"cats the"': [],
}


def test_what_a_query_finds(library: Database) -> None:
    with library.reading() as session:
        assert {query: found(session, query) for query in FINDS} == FINDS


def test_a_phrase_is_found_however_far_from_the_beginning(session: Session) -> None:
    # A tsvector of PostgreSQL counts places to 16,383, and 256 of a word; these stand behind.
    news(session)
    corpus(session, {"long": ("", LONG), "short": ("", "of this and that")})
    finds = {
        '"needle in haystack"': ["long"],
        '"haystack needle"': [],
        '"of needles"': ["long"],
        '"of needl"*': ["long"],
        'of NOT "needle in haystack"': ["short"],
        'of NOT "haystack in needle"': ["long", "short"],
    }
    assert {query: found(session, query) for query in finds} == finds


def matches(query: Query, words: list[str]) -> bool:
    """Whether a document with these words answers the query, by its definition."""
    match query:
        case Asked():
            *before, last = query.phrase.words
            return any(
                words[at : at + len(before)] == before
                and (
                    words[at + len(before)] == last or (query.phrase.opens and words[at + len(before)].startswith(last))
                )
                for at in range(len(words) - len(before))
            )
        case All():
            return all(matches(part, words) for part in query.parts) and not any(
                matches(part, words) for part in query.without
            )
        case AnyOf():
            return any(matches(part, words) for part in query.parts)


WORDS = [
    "the",
    "cat",
    "cat*",
    "ca*",
    "of",
    '"the cat"',
    '"of retrieval"',
    "검색",
    "검",
    "가",
    "시스템",
    "検索",
    "e-mail",
]
QUERIES = st.recursive(
    st.sampled_from(WORDS),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("({0[0]} {0[1]})".format),
        st.tuples(inner, inner).map("({0[0]} OR {0[1]})".format),
        st.tuples(inner, inner).map("({0[0]} NOT {0[1]})".format),
    ),
    max_leaves=6,
)


def test_both_databases_find_what_the_words_say(library: Database) -> None:
    words = {docno: indexed_words(title, body).split() for docno, (title, body) in TEXTS.items()}

    @settings(max_examples=examples(80))
    @given(QUERIES)
    def compare(text: str) -> None:
        query = parse_query(text)
        assert found(session, text) == sorted(docno for docno, its in words.items() if matches(query, its))

    with library.reading() as session:
        compare()


HOSTILE = st.lists(
    st.sampled_from(
        [*"ab검()\"*^+-:{}'\\&|!<>%;\x00🙂 ", " AND ", " OR ", " NOT ", "NEAR(", "words:", "document_words_index"]
    ),
    max_size=20,
).map("".join)


def test_no_query_reaches_a_database_that_it_could_upset(library: Database) -> None:
    @settings(max_examples=examples(100))
    @given(HOSTILE)
    def ask(text: str) -> None:
        try:
            parse_query(text)
        except InvalidValueError:
            with pytest.raises(InvalidValueError):
                search.find_documents(session, SLUG, text)
        else:
            search.find_documents(session, SLUG, text)

    with library.reading() as session:
        ask()


LARGEST = [
    " ".join(f"word{number}" for number in range(100)),
    " OR ".join(f"wo{number}*" for number in range(100)),
    "a NOT " + " NOT ".join(f"w{number}" for number in range(99)),
    "검색" * 50,
    "(" * 10 + "a" + " OR b)" * 10,
    "a NOT (" * 10 + "b" + ")" * 10,
]


def test_the_largest_queries_are_answered(library: Database) -> None:
    with library.reading() as session:
        for query in LARGEST:
            search.find_documents(session, SLUG, query)
        with pytest.raises(InvalidValueError, match="too long"):
            search.find_documents(session, SLUG, "word " * 10_000)


def test_the_same_page_comes_again_and_pages_do_not_overlap(session: Session) -> None:
    news(session)
    texts = ("cat mat mat", "cat cat mat", "cat cat cat")
    corpus(session, {f"d{number:02}": ("", texts[number % 3]) for number in range(30)})
    whole = [hit.docno for hit in search.find_documents(session, SLUG, "cat", most=30).hits]
    pages = [search.find_documents(session, SLUG, "cat", first=first, most=7) for first in range(0, 42, 7)]
    assert [hit.docno for page in pages for hit in page.hits] == whole
    assert {page.total for page in pages} == {30}
    # What says the word most often comes first, and what says it equally often by docno.
    assert [docno for docno in whole if int(docno[1:]) % 3 == 2] == whole[:10] == sorted(whole[:10])


def test_a_hit_shows_where_it_answers(library: Database) -> None:
    with library.reading() as session:
        [hit] = search.find_documents(session, SLUG, "평가").hits
    assert [(part.text, part.marked) for part in hit.title] == [("검색시스템의 ", False), ("평가", True)]
    assert [part.text for part in hit.snippet if part.marked] == ["평가"]


def test_sqlite_asks_its_index_once_and_not_for_each_document(sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        news(session)
        corpus(session, {"a": ("", "cat")})
    asked: list[tuple[str, tuple[object, ...]]] = []
    event.listen(
        sqlite_database.engine,
        "before_cursor_execute",
        lambda _connection, _cursor, statement, parameters, *_: asked.append((statement, parameters)),
    )
    with sqlite_database.reading() as session:
        search.find_documents(session, SLUG, "cat")
        searches = [one for one in asked if " MATCH " in one[0]]
        plans = [
            [row.detail for row in session.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)]
            for statement, parameters in searches
        ]
    assert len(plans) == 2
    tables = [[step for step in plan if "document" in step] for plan in plans]
    assert all("VIRTUAL TABLE" in first and "PRIMARY KEY" in then for first, then in tables)


def test_each_collection_is_searched_alone(session: Session) -> None:
    news(session)
    news(session, "other")
    corpus(session, {"here": ("", "cat")})
    corpus(session, {"there": ("", "cat")}, slug="other")
    assert found(session, "cat") == ["here"]
    assert found(session, "cat", slug="other") == ["there"]


def test_the_index_keeps_in_step_with_imports(session: Session) -> None:
    news(session)
    topic_file(session)
    run(session, "alpha", {"1": ["a", "bodiless"]})
    assert found(session, "cat OR dog OR bodiless") == []
    corpus(session, {"a": ("", "cat"), "b": ("", "cat")})
    assert found(session, "cat") == ["a", "b"]
    corpus(session, {"a": ("", "dog"), "b": ("", "cat"), "c": ("cat", "")})
    assert found(session, "cat") == ["b", "c"]
    assert found(session, "dog") == ["a"]


def test_the_index_can_be_made_anew(session: Session) -> None:
    news(session)
    news(session, "other")
    corpus(session, {"a": ("", "cat"), "b": ("", "dog")})
    corpus(session, {"z": ("", "cat")}, slug="other")
    for _ in range(2):
        assert documents.index_collection(session, SLUG) == 2
        assert (found(session, "cat"), found(session, "cat", slug="other")) == (["a"], ["z"])
    session.execute(delete(DocumentWords))
    assert found(session, "cat") == []
    assert documents.index_collection(session, SLUG) == 2
    assert (found(session, "cat"), found(session, "cat", slug="other")) == (["a"], [])


@pytest.mark.parametrize("sign", ["w", "검", "😀"])
def test_a_document_of_any_length_can_be_stored(session: Session, sign: str) -> None:
    news(session)
    many = " ".join(f"{sign}{number:x}" for number in range(150_000))
    corpus(session, {"many": ("", many), "blob": ("", "검" * 200_000 + " " + "A1b2" * 100_000), "one": ("", "cat")})
    assert found(session, "cat") == ["one"]
    assert session.scalar(select(func.count()).select_from(Document)) == 3
    assert "many" in found(session, f"{sign}1ff*")


def test_a_worst_case_of_short_words_fits_into_a_tsvector(session: Session) -> None:
    news(session)
    # Words of three bytes, each a few times: what takes most room beside its letters.
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    short = " ".join(a + b + c for a in letters for b in letters for c in letters)
    corpus(session, {"short": ("", f"{short} {short} {short}")})
    assert found(session, "abc") == ["short"]


def test_an_organiser_sees_what_is_pooled_for_the_topic(session: Session) -> None:
    pooled_news(session)
    page = search.find_documents(session, SLUG, "text", topic="2")
    assert {hit.docno: hit.pooled for hit in page.hits} == {"a": True, "b": False, "c": False, "d": False, "e": True}
    assert not any(hit.pooled for hit in search.find_documents(session, SLUG, "text").hits)
    with pytest.raises(NotFoundError, match="no topic “9”"):
        search.find_documents(session, SLUG, "text", topic="9")


def test_a_judge_sees_their_own_judgements_and_nothing_else(session: Session) -> None:
    pooled_news(session, judgements_wanted=2)
    jo, kim = member(session, "jo"), member(session, "kim")
    change_collection(session, SLUG, CollectionChange(judges_search=True))
    judged = judge_one(session, jo, 2)
    assert judge_one(session, kim, 1) == judged
    page = search.find_to_judge(session, SLUG, "text", topic="1", judge_id=jo)
    assert {hit.docno: hit.decision for hit in page.hits if hit.decision} == {judged: Decision(2)}
    assert [hit.assignment_id is not None for hit in page.hits] == [hit.decision is not None for hit in page.hits]
    assert set(vars(page.hits[0])) == {"docno", "title", "snippet", "language", "decision", "assignment_id"}
    assert not any(hit.decision for hit in search.find_to_judge(session, SLUG, "text", topic="2", judge_id=jo).hits)


def judge_one(session: Session, judge: int, grade: int) -> str:
    """Judge the first document of topic 1; its docno."""
    task = judging.next_task(session, SLUG, "1", judge, now=NOW)
    assert task is not None
    decision, client_id = Decision(grade), f"client-{judge}"
    recording.record_judgement(session, SLUG, task.assignment_id, judge, decision, client_id=client_id, judged_at=NOW)
    return task.docno


def test_judges_search_only_where_the_organiser_lets_them(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    with pytest.raises(NotAllowedError, match="has not let them search"):
        search.find_to_judge(session, SLUG, "text", topic="1", judge_id=jo)


def test_a_judge_searches_for_accepted_topics_and_an_organiser_for_all(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    change_collection(session, SLUG, CollectionChange(judges_search=True))
    topic_editing.drop_topics(session, SLUG, ["2"], reason="nothing relevant")
    with pytest.raises(NotFoundError, match="no topic “2”"):
        search.find_to_judge(session, SLUG, "text", topic="2", judge_id=jo)
    assert search.find_documents(session, SLUG, "text", topic="2").total == 5


def test_a_document_is_opened_by_its_docno(session: Session) -> None:
    pooled_news(session)
    run(session, "gamma", {"1": ["bodiless"]})
    opened = search.open_document(session, SLUG, "a")
    assert (opened.title, opened.body) == ("Title of a", "Text of a.")
    for docno in ("bodiless", "zz"):
        with pytest.raises(NotFoundError, match=f"no document “{docno}” with a text"):
            search.open_document(session, SLUG, docno)
