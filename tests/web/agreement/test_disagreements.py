"""Disagreements and how the judges work, as pages."""

import json

import pytest
from build import NOW, SLUG, labels
from csv_cells import unquoted
from kept import Kept
from sqlalchemy import select, update
from visiting import Visit, words

from annotator.storage import (
    Assignment,
    AssignmentState,
    Database,
    Document,
    Evidence,
    Judgement,
    PoolItem,
    Purpose,
    User,
    UserKind,
)


@pytest.fixture
def judged(news: str, database: Database, kept: Kept) -> str:
    """Jo and Kim differ on a by two grades, on b by one, and agree on c; Kim said why."""
    kept.fill(database, add_grades)
    return news


def add_grades(database: Database) -> None:
    with database.transaction() as session:
        labels(session, "jo", "1 0 a 0\n1 0 b 1\n1 0 c 1\n2 0 e 0\n")
        labels(session, "kim", "1 0 a 2\n1 0 b 2\n1 0 c 1\n", name="k.txt")
        kim = select(User.id).where(User.name == "kim").scalar_subquery()
        said = session.scalars(select(Judgement).where(Judgement.judge_id == kim, Judgement.grade == 2)).first()
        assert said is not None
        said.note = "It says <so> at the end."
        session.add(Evidence(judgement_id=said.id, start=0, end=4, text="the end"))


def test_the_worst_disagreement_comes_first_with_all_that_was_said(visit: Visit, judged: str) -> None:
    page = visit("ola").get(f"{judged}/disagreements")
    text = words(page)
    assert "3 Documents graded by two or more" not in text  # the name stands before the number in the source
    assert "Documents graded by two or more 3" in text
    assert "they graded 67 differently" in text
    assert text.index("Title of a") < text.index("Title of b")
    assert "Title of c" not in text
    assert "relevant or not 2 grades apart" in text
    assert "jo 2026-03-01 09:00 UTC 0 · Not relevant" in text
    assert "2 · Highly relevant It says <so> at the end. the end" in text
    assert f'href="{judged}/search/document?docno=a&amp;topic=1"' in page.text


def test_the_link_to_a_document_opens_it(visit: Visit, judged: str) -> None:
    assert "Text of a." in words(visit("ola").get(f"{judged}/search/document?docno=a&topic=1"))


def test_a_document_without_text_has_no_link(visit: Visit, judged: str, database: Database) -> None:
    with database.transaction() as session:
        session.execute(update(Document).where(Document.docno == "a").values(body=None))
    assert "docno=a&amp;" not in visit("ola").get(f"{judged}/disagreements").text


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("apart=2", ["a"]),
        ("across=1", ["a"]),
        ("topic=1&judge=jo&other=kim", ["a", "b"]),
        ("judge=jo&other=jo", ["a", "b"]),
        ("other=kim&undecided=1", ["a", "b"]),
        ("topic=2", []),
        ("apart=x&page=²", ["a", "b"]),
        ("page=99", ["a", "b"]),
    ],
)
def test_the_address_narrows_the_page_and_its_files(visit: Visit, judged: str, query: str, shown: list[str]) -> None:
    ola = visit("ola")
    text = words(ola.get(f"{judged}/disagreements?{query}"))
    assert [docno for docno in "abce" if f"Title of {docno}" in text] == shown
    assert ("No matching documents." in text) == (not shown)
    answer = ola.get(f"{judged}/disagreements.json?{query}")
    assert [row["docno"] for row in json.loads(answer.text)] == shown
    assert len(ola.get(f"{judged}/disagreements.csv?{query}").text.splitlines()) == 1 + 2 * len(shown)


def test_the_links_to_the_files_keep_what_was_asked_for(visit: Visit, judged: str) -> None:
    page = visit("ola").get(f"{judged}/disagreements?topic=1&judge=jo&apart=2&across=1")
    assert f'href="{judged}/disagreements.csv?topic=1&amp;judge=jo&amp;apart=2&amp;across=1"' in page.text


@pytest.mark.parametrize(("query", "status"), [("topic=9", 404), ("judge=gus", 404), ("judge=jo&other=pat", 404)])
def test_what_is_not_there_is_said_on_the_page(visit: Visit, judged: str, query: str, status: int) -> None:
    page = visit("ola").get(f"{judged}/disagreements?{query}")
    assert page.status_code == status
    assert 'role="alert"' in page.text
    assert "Title of a" not in words(page)
    assert "Show all" in words(page)


def test_what_an_adjudicator_decided_is_marked(visit: Visit, judged: str, database: Database) -> None:
    with database.transaction() as session:
        item = session.scalars(
            select(PoolItem.id).join(Document, Document.id == PoolItem.document_id).where(Document.docno == "b")
        ).one()
        ola = session.scalars(select(User.id).where(User.name == "ola")).one()
        purpose, done = Purpose.ADJUDICATION, AssignmentState.DONE
        held = Assignment(pool_item_id=item, judge_id=ola, purpose=purpose, state=done, drawn_at=NOW, lease_until=NOW)
        session.add(held)
        session.flush()
        decided = Judgement(client_id="x", assignment_id=held.id, pool_item_id=item, judge_id=ola, grade=1)
        decided.judged_at = decided.received_at = NOW
        session.add(decided)
    text = words(visit("ola").get(f"{judged}/disagreements"))
    assert "1 grade apart decided jo" in text
    assert "ola decides" in text
    assert "Not decided yet 1" in text


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({}, "There are no grades yet."),
        ({"jo": "1 0 a 1\n"}, "Only one judge has graded anything."),
        ({"jo": "1 0 a 1\n", "kim": "1 0 b 1\n"}, "No document has been graded by two judges."),
        ({"jo": "1 0 a 1\n", "kim": "1 0 a 1\n"}, "All of them got the same grade from each."),
    ],
)
def test_without_a_disagreement_the_page_says_why(
    visit: Visit, news: str, database: Database, files: dict[str, str], sentence: str
) -> None:
    with database.transaction() as session:
        for judge, text in files.items():
            labels(session, judge, text, name=f"{judge}.txt")
    page = visit("ola").get(f"{news}/disagreements")
    assert page.status_code == 200
    assert sentence in words(page)


def test_machines_are_not_offered_as_judges(visit: Visit, judged: str, database: Database) -> None:
    with database.transaction() as session:
        labels(session, "gpt", "1 0 c 0\n", name="g.txt")
        session.execute(update(User).where(User.name == "gpt").values(kind=UserKind.MACHINE))
    ola = visit("ola")
    assert "gpt" not in ola.get(f"{judged}/disagreements").text
    assert "gpt" not in ola.get(f"{judged}/judges").text


def test_how_the_judges_work_is_told_in_a_table_and_of_each_in_words(
    visit: Visit, judged: str, database: Database
) -> None:
    with database.transaction() as session:
        kim = select(User.id).where(User.name == "kim").scalar_subquery()
        session.execute(update(Judgement).where(Judgement.judge_id == kim).values(seconds=4))
        session.execute(update(PoolItem).values(known_grade=1, for_everyone=True))
    ola = visit("ola")
    text = words(ola.get(f"{judged}/judges"))
    assert "jo 4 \u2013 \u2013 50 %" in text
    assert "kim 3 4.0 900 an hour 0 100 %" in text
    one = words(ola.get(f"{judged}/judges/judge?name=kim"))
    assert "A half of the documents took 4.0 seconds or less; in an hour of work, 900 documents are judged." in one
    assert "Of 100 documents, this judge finds 100 relevant." in one
    assert "it is 100 of 100 here and 67 of 100 with the others" in one
    assert "Of 100 grades that others gave to the same documents, 33 are the same" in one
    assert "1 of 3 gold questions are right" in one
    other = words(ola.get(f"{judged}/judges/judge?name=jo"))
    assert "Times are unknown" in other
    assert "This judge has graded no document a second time." in other


def test_what_a_very_fast_streak_is_can_be_chosen(visit: Visit, judged: str, database: Database) -> None:
    with database.transaction() as session:
        ids = session.scalars(select(Judgement.id).order_by(Judgement.id)).all()
        for place, id_ in enumerate(ids):
            session.execute(update(Judgement).where(Judgement.id == id_).values(seconds=1 if place in (1, 2) else 9))
    ola = visit("ola")
    assert "There is none." in words(ola.get(f"{judged}/judges/judge?name=jo"))
    page = ola.get(f"{judged}/judges?streak=2&percent=50")
    assert f"{judged}/judges/judge?name=jo&amp;streak=2&amp;percent=50" in page.text
    text = words(ola.get(f"{judged}/judges/judge?name=jo&streak=2&percent=50"))
    assert "Very fast streaks: 1" in text
    assert "1 2 1.0 all of them 1" in text
    assert ",1," in unquoted(ola.get(f"{judged}/judges.csv?streak=2&percent=50").text).splitlines()[1]
    refused = ola.get(f"{judged}/judges?streak=1")
    assert (refused.status_code, 'role="alert"' in refused.text) == (422, True)
    assert "kim" in words(refused)


def test_without_a_judgement_the_page_of_the_judges_stays_up(visit: Visit, news: str) -> None:
    ola = visit("ola")
    page = ola.get(f"{news}/judges")
    assert page.status_code == 200
    assert "No judgements yet." in words(page)
    assert ola.get(f"{news}/judges/judge?name=jo").status_code == 404
    assert len(ola.get(f"{news}/judges.csv").text.splitlines()) == 1


def test_a_judge_with_nothing_but_what_cannot_be_judged_has_a_page(
    visit: Visit, judged: str, database: Database
) -> None:
    with database.transaction() as session:
        jo = select(User.id).where(User.name == "jo").scalar_subquery()
        session.execute(update(Judgement).where(Judgement.judge_id == jo).values(grade=None, cannot_judge="broken"))
    ola = visit("ola")
    assert "This judge has graded nothing." in words(ola.get(f"{judged}/judges/judge?name=jo"))
    assert "No other judge has graded the same documents." in words(ola.get(f"{judged}/judges/judge?name=kim"))
    assert "jo 4 could not: 4" in words(ola.get(f"{judged}/judges"))


def test_no_judge_sees_how_judges_work(visit: Visit, judged: str) -> None:
    for path in (
        "disagreements",
        "disagreements.csv",
        "disagreements.json",
        "judges",
        "judges.csv",
        "judges/judge?name=jo",
    ):
        assert visit("jo").get(f"{judged}/{path}").status_code == 403, path


def test_the_slug_is_in_the_names_of_the_files(visit: Visit, judged: str) -> None:
    for path in ("disagreements.csv", "disagreements.json", "judges.csv"):
        answer = visit("ola").get(f"{judged}/{path}")
        assert f"filename={SLUG}-{path}" in answer.headers["Content-Disposition"]


def test_a_disagreement_is_decided_on_its_card(visit: Visit, judged: str) -> None:
    ola = visit("ola")
    page = ola.get(f"{judged}/disagreements")
    assert words(page).count("Decide 0 Not relevant 1 Relevant 2 Highly relevant") == 2
    fields = {"topic": "1", "docno": "a", "client_id": "one", "grade": "2", "note": "Clear."}
    sent = ola.post(f"{judged}/disagreements?apart=1&undecided=1&place=1", **fields)
    assert sent.status_code == 303
    assert sent.headers["Location"].endswith("/disagreements?undecided=1&page=1#card-1")
    changed = ola.post(f"{judged}/disagreements?place=1", **{**fields, "client_id": "two"})
    assert changed.headers["Location"].endswith("/disagreements?page=1#card-2")
    after = words(ola.get(f"{judged}/disagreements"))
    assert "Decided: a is 2." in after
    assert "Change your decision" in after
    assert "Clear." in after


def test_a_refused_decision_is_explained(visit: Visit, judged: str) -> None:
    ola = visit("ola")
    refused = ola.post(f"{judged}/disagreements", topic="1", docno="c", client_id="one", grade="1")
    assert refused.status_code == 409
    assert "You cannot decide on this document" in words(refused)
    assert ola.post(f"{judged}/disagreements", topic="1", docno="a", client_id="one", grade="x").status_code == 422
