"""The search page: organisers add to the pool, judges judge, and no judge learns what is pooled."""

import re

import pytest
from build import SLUG, document_file, labels, member
from sqlalchemy import func, select, text
from visiting import Visit, words
from werkzeug.test import TestResponse

from annotator.files import InputFile
from annotator.storage import Contribution, Database, PoolItem, Role
from annotator.workflows.collections.collection import CollectionChange, change_collection
from annotator.workflows.documents import documents
from annotator.workflows.topics import topic_editing


@pytest.fixture
def open_to_judges(news: str, database: Database) -> str:
    """The pooled collection, 1 → a b c d and 2 → a e, whose judges may search; its address."""
    with database.transaction() as session:
        change_collection(session, SLUG, CollectionChange(judges_search=True))
        document_file(session, ["f"])
    return news


def hits(response: TestResponse) -> list[str]:
    return re.findall(r'<p class="about"><code>([^<]*)</code>', response.text)


def items(database: Database) -> int:
    with database.reading() as session:
        return session.scalar(select(func.count()).select_from(PoolItem)) or 0


def test_a_query_lists_documents_with_what_was_found_marked(visit: Visit, news: str) -> None:
    page = visit("ola").get(f"{news}/search?q=text+OR+nothing&topic=2")
    assert sorted(hits(page)) == ["a", "b", "c", "d", "e"]
    assert "<mark>Text</mark> of a." in page.text
    assert "Documents found: 5; shown: 1 to 5" in words(page)
    assert words(page).count("· in the pool") == 2
    assert "Topic 2: second topic" in words(page)
    assert "No documents found." in words(visit("ola").get(f"{news}/search?q=nothing"))


def test_a_bad_query_is_explained_where_it_was_written(visit: Visit, news: str) -> None:
    page = visit("ola").get(f"{news}/search?q=%22cats&topic=2")
    assert page.status_code == 422
    assert "The quotation mark at character 1 is not closed." in words(page)
    assert 'value="&#34;cats"' in page.text
    assert visit("ola").get(f"{news}/search?q=cats&topic=9").status_code == 404


def test_many_documents_are_paged(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        document_file(session, [f"more{number}" for number in range(20)])
    ola = visit("ola")
    first, second = (ola.get(f"{news}/search?q=text&page={page}") for page in (1, 2))
    assert (len(hits(first)), len(hits(second)), len({*hits(first), *hits(second)})) == (20, 5, 25)
    assert 'rel="next"' in first.text
    assert 'rel="prev"' in second.text
    assert "There are no more of them on this page." in words(ola.get(f"{news}/search?q=text&page=9"))
    assert len(hits(ola.get(f"{news}/search?q=text&page=x"))) == 20


def test_a_page_says_that_more_match_than_it_lists(visit: Visit, news: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotator.storage.documents.search.MOST_RANKED", 3)
    page = words(visit("ola").get(f"{news}/search?q=text"))
    assert "Documents listed: 3; shown: 1 to 3" in page
    assert "More documents match." in page
    assert "More documents match." not in words(visit("ola").get(f"{news}/search?q=text+b"))


def test_a_damaged_index_is_told_and_the_documents_stay_in_reach(visit: Visit, news: str, database: Database) -> None:
    if not database.is_sqlite:
        return
    with database.engine.connect() as connection:
        connection.execute(text("DROP TABLE document_words_index"))
        connection.commit()
    ola = visit("ola")
    page = ola.get(f"{news}/search?q=text")
    assert page.status_code == 503
    assert "The search index is missing or damaged." in words(page)
    assert ola.get(f"{news}/search/document?docno=a").status_code == 200


def test_an_organiser_adds_what_is_ticked(visit: Visit, news: str, database: Database) -> None:
    ola = visit("ola")
    answer = ola.post(f"{news}/search/add", topic="2", q="text", page="1", docno=["b", "c", "e"])
    assert answer.status_code == 303
    page = ola.get(answer.location)
    assert "Documents added to the pool of topic 2: 2; in it already: 1." in words(page)
    assert words(page).count("· in the pool") == 4
    assert items(database) == 8
    with database.reading() as session:
        queries = session.scalars(select(Contribution.query).where(Contribution.searched_by_id.is_not(None))).all()
    assert queries == ["text"] * 3


def test_adding_nothing_is_refused_beside_the_documents(visit: Visit, news: str) -> None:
    page = visit("ola").post(f"{news}/search/add", topic="2", q="text")
    assert page.status_code == 422
    assert "Choose 1 to 1000 documents to add, not 0." in words(page)
    assert len(hits(page)) == 5


def test_documents_are_added_to_accepted_topics_only(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        topic_editing.add_draft(session, SLUG, "D1", topic_editing.TopicWords("a draft"))
    ola = visit("ola")
    page = ola.get(f"{news}/search?q=text&topic=D1")
    assert "Topic D1 is a draft: accept it before its documents are pooled." in words(page)
    assert "/search/add" not in page.text
    assert ola.post(f"{news}/search/add", topic="D1", q="text", docno="b").status_code == 404
    assert "/search/add" not in ola.get(f"{news}/search?q=text").text


def test_judges_search_where_the_organiser_lets_them(visit: Visit, news: str, open_to_judges: str) -> None:
    jo = visit("jo")
    assert "Search" in words(jo.get(f"{news}/judge"))
    page = jo.get(f"{open_to_judges}/search")
    assert page.status_code == 200
    assert '<option value="1" selected>' in page.text
    assert len(hits(jo.get(f"{news}/search?q=text"))) == 6


def test_judges_are_told_when_they_may_not_search(visit: Visit, news: str) -> None:
    jo = visit("jo")
    for path in ("search", "search?q=text&topic=1", "search/document?docno=a"):
        page = jo.get(f"{news}/{path}")
        assert page.status_code == 403
        assert "the organiser has not let them search" in words(page)
    assert jo.post(f"{news}/search/judge", topic="1", q="text", docno="e").status_code == 403
    assert "/search" not in jo.get(f"{news}/judge").text


def test_a_judge_sees_nothing_of_the_pool(visit: Visit, open_to_judges: str) -> None:
    page = visit("jo").get(f"{open_to_judges}/search?q=text&topic=2")
    shown = dict(re.findall(r"<article.*?<code>(\w+)</code>(.*?)</article>", page.text, re.DOTALL))
    assert set(shown) == set("abcdef")
    # Pooled and unpooled documents differ by their own names alone.
    unnamed = {
        re.sub(r"hit-\d+", "", text.replace(f'value="{docno}"', "").replace(f" of {docno}", ""))
        for docno, text in shown.items()
    }
    assert len(unnamed) == 1
    assert "pool" not in words(page).lower()


def test_a_judge_judges_what_they_found_and_goes_on(visit: Visit, open_to_judges: str, database: Database) -> None:
    jo = visit("jo")
    answer = jo.post(f"{open_to_judges}/search/judge", topic="2", q="text", docno="f")
    assert answer.status_code == 303
    screen = jo.get(answer.location)
    assert "Title of f" in words(screen)
    assert "second topic" in words(screen)
    graded = jo.post(answer.location, grade="2", client_id="c", guidelines="0")
    assert graded.location == f"{open_to_judges}/search?topic=2&q=text"
    assert "you judged it: Highly relevant" in words(jo.get(f"{open_to_judges}/search?q=text&topic=2"))
    assert "you judged it" not in words(visit("kim").get(f"{open_to_judges}/search?q=text&topic=2"))
    assert items(database) == 7


def test_a_document_that_wants_no_judge_opens_like_any_other(
    visit: Visit, open_to_judges: str, database: Database
) -> None:
    with database.transaction() as session:
        labels(session, "one", "2 0 e 1\n", name="one.txt")
        labels(session, "two", "2 0 e 2\n", name="two.txt")
    jo = visit("jo")
    answer = jo.post(f"{open_to_judges}/search/judge", topic="2", q="text", docno="e")
    first = words(jo.get(answer.location))
    second = words(jo.get(jo.post(f"{open_to_judges}/search/judge", topic="2", q="text", docno="f").location))
    # No refusal and no count tells the two apart: each adds one to what waits.
    assert "Back to the search" in first
    assert [re.findall(r"1 of (\d)", screen) for screen in (first, second)] == [["2"], ["3"]]
    assert without_names(first) == without_names(second)


def without_names(screen: str) -> str:
    return re.sub(r'\b[ef]\b|"(?:assignment|total)": ?\d+|1 of \d', "", screen)


@pytest.mark.parametrize(
    "back", ["//evil.example/collections/news/search", "https://evil.example/", "/collections/news/judge", "/sign-out"]
)
def test_a_judge_is_led_back_to_a_search_only(visit: Visit, open_to_judges: str, back: str) -> None:
    jo = visit("jo")
    address = jo.post(f"{open_to_judges}/search/judge", topic="2", q="text", docno="f").location.partition("?")[0]
    page = jo.get(f"{address}?back={back}")
    assert "Back to the search" not in words(page)
    graded = jo.post(f"{address}?back={back}", grade="2", client_id="c", guidelines="0")
    assert graded.location == f"{open_to_judges}/judge/topics/2"


def test_an_organiser_is_offered_to_judge_only_as_a_judge(
    visit: Visit, open_to_judges: str, database: Database
) -> None:
    ola = visit("ola")
    page = ola.get(f"{open_to_judges}/search?q=text&topic=2")
    assert ("/search/add" in page.text, "/search/judge" in page.text) == (True, False)
    with database.transaction() as session:
        member(session, "ola", Role.JUDGE)
    page = ola.get(f"{open_to_judges}/search?q=text&topic=2")
    assert ("/search/add" in page.text, "/search/judge" in page.text) == (True, True)


def test_a_document_is_read_before_it_is_added(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        content = b'{"docno": "x/y?", "title": "T", "body": "<p>Good</p><script>bad()</script>"}\n'
        read = documents.read_documents([InputFile("d.jsonl", content)], fields={}, unpacked_limit=1 << 20)
        documents.import_documents(session, SLUG, read)
    ola = visit("ola")
    listed = ola.get(f"{news}/search?q=good&topic=1")
    address = re.search(r'href="([^"]*search/document[^"]*)"', listed.text)
    assert address is not None
    page = ola.get(address[1].replace("&amp;", "&"))
    assert "Good" in words(page)
    assert "bad()" not in page.text
    assert "Add it to the pool of topic 1" in words(page)
    assert ola.get(f"{news}/search/document?docno=none").status_code == 404


def test_a_closed_collection_is_searched_and_not_changed(visit: Visit, open_to_judges: str) -> None:
    ola = visit("ola")
    ola.post(f"{open_to_judges}/close")
    for name in ("ola", "jo"):
        page = visit(name).get(f"{open_to_judges}/search?q=text&topic=2")
        assert len(hits(page)) == 6
        assert "/search/add" not in page.text
        assert "/search/judge" not in page.text
    assert ola.post(f"{open_to_judges}/search/add", topic="2", q="text", docno="b").status_code == 409
