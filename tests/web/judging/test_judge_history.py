"""What I judged and what I put off, as pages."""

import re
from html import unescape

from build import NOW, SLUG, labels
from sqlalchemy import select
from visiting import Visit, words
from werkzeug.test import TestResponse

from annotator.storage import (
    Assignment,
    AssignmentState,
    Database,
    Document,
    Evidence,
    Judgement,
    JudgingMode,
    PoolItem,
    Topic,
    User,
)
from annotator.storage.judging.changed_texts import requeue
from annotator.storage.judging.leases import give_back, lend
from annotator.storage.tables.judging import LEASE
from annotator.web.site.context import now
from annotator.workflows.collections.queue_settings import QueueChange, change_queue
from annotator.workflows.judging.topic_owners import assign_topics


def judge_some(database: Database) -> None:
    """Jo judges a, b and e, and a twice; Kim judges c."""
    with database.transaction() as session:
        labels(session, "jo", "1 0 a 2\n1 0 b 0\n2 0 e 1\n")
        labels(session, "jo", "1 0 a 1\n", name="2.txt")
        labels(session, "kim", "1 0 c 1\n", name="k.txt")


def test_a_judge_looks_for_what_they_judged_and_sees_what_they_said_before(
    visit: Visit, news: str, database: Database
) -> None:
    judge_some(database)
    jo = visit("jo")
    page = jo.get(f"{news}/judge/judged")
    assert "Documents you judged: 3" in words(page)
    assert "Title of c" not in page.text
    assert "Earlier: 1 · a 2 · Highly relevant" in words(page)
    narrowed = words(jo.get(f"{news}/judge/judged?q=title+of&grade=0"))
    assert "Documents found: 1" in narrowed
    assert "Title of b" in narrowed
    assert "Title of e" not in narrowed
    assert "Title of e" in words(jo.get(f"{news}/judge/judged?topic=2"))
    assert "No matching judgements." in words(jo.get(f"{news}/judge/judged?grade=cannot"))


def test_an_address_that_makes_no_sense_narrows_nothing(visit: Visit, news: str, database: Database) -> None:
    judge_some(database)
    jo = visit("jo")
    for query in ("grade=x", "grade=99", "page=-1", "page=many", "grade=²", "page=99999999999"):
        assert "Documents you judged: 3" in words(jo.get(f"{news}/judge/judged?{query}")), query


def test_what_was_put_off_is_listed_and_taken_up_again(visit: Visit, news: str, database: Database) -> None:
    jo = visit("jo")
    assert "You have no deferred documents" in words(jo.get(f"{news}/judge/put-off"))
    with database.transaction() as session:
        judge_id = session.scalars(select(User.id).where(User.name == "jo")).one()
        items = session.scalars(select(PoolItem.id).order_by(PoolItem.id).limit(2)).all()
        lend(session, items, judge_id, NOW)
        first, second = session.scalars(select(Assignment).order_by(Assignment.pool_item_id)).all()
        for assignment in (first, second):
            assignment.state, assignment.put_off_at = AssignmentState.LATER, NOW
        session.flush()
        give_back(session, Assignment.id == second.id)
        first_id, second_id = first.id, second.id
    page = jo.get(f"{news}/judge/put-off")
    assert "Deferred documents: 2" in words(page)
    assert f'href="{news}/judge/assignments/{first_id}"' in page.text
    taken = jo.post(f"{news}/judge/put-off/{second_id}")
    assert taken.status_code == 303
    assert taken.headers["Location"] == f"{news}/judge/assignments/{second_id + 1}"
    assert "Deferred documents: 1" in words(jo.get(f"{news}/judge/put-off"))
    assert visit("kim").post(f"{news}/judge/put-off/{first_id}").status_code == 404


def test_the_overview_tells_a_judge_their_own_topics_and_what_they_put_off(
    visit: Visit, news: str, database: Database
) -> None:
    jo = visit("jo")
    assert "This topic is yours." not in words(jo.get(f"{news}/judge"))
    with database.transaction() as session:
        change_queue(session, SLUG, QueueChange(judging_mode=JudgingMode.OWNED))
        assign_topics(session, SLUG, {"2": "jo"})
        jo_id = session.scalars(select(User.id).where(User.name == "jo")).one()
        of_second = select(PoolItem.id).join(Topic, Topic.id == PoolItem.topic_id).where(Topic.number == "2")
        lend(session, [session.scalars(of_second.limit(1)).one()], jo_id, NOW)
        assignment = session.scalars(select(Assignment)).one()
        assignment.state, assignment.put_off_at = AssignmentState.LATER, now()
        assignment.lease_until = now() + LEASE
    page = jo.get(f"{news}/judge")
    assert "2 second topic This topic is yours. 0 2 1" in words(page)
    assert page.text.count(f'href="{news}/judge/put-off">1</a>') == 1


def stored(database: Database, docno: str) -> list[tuple[int | None, bool, str]]:
    """Jo's judgements of a document of topic 1: grade, whether it counts, note."""
    with database.reading() as session:
        rows = session.scalars(
            select(Judgement)
            .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
            .join(Document, Document.id == PoolItem.document_id)
            .join(Topic, Topic.id == PoolItem.topic_id)
            .join(User, User.id == Judgement.judge_id)
            .where(Document.docno == docno, Topic.number == "1", User.name == "jo")
            .order_by(Judgement.id)
        )
        return [(row.grade, row.current, row.note) for row in rows]


def form_of(page: TestResponse, docno: str) -> tuple[str, str]:
    """The address and the client id of the form of a document's row."""
    row = page.text.split(f'<span class="hint">{docno}</span>')[1].split("</tr>")[0]
    action, client_id = re.search(r'action="([^"]+)"', row), re.search(r'name="client_id" value="([^"]+)"', row)
    assert action
    assert client_id
    return unescape(action[1]), client_id[1]


def test_a_grade_is_changed_in_the_list_with_its_note_and_its_evidence(
    visit: Visit, news: str, database: Database
) -> None:
    judge_some(database)
    with database.transaction() as session:
        [b] = session.scalars(select(Judgement).where(Judgement.grade == 0))
        b.note = "half of it"
        session.add(Evidence(judgement_id=b.id, start=0, end=4, text="Text"))
    jo = visit("jo")
    page = jo.get(f"{news}/judge/judged?q=title+of&sort=grade")
    action, client_id = form_of(page, "b")
    answer = jo.post(action, grade="2", client_id=client_id)
    assert answer.status_code == 303
    assert re.search(r"/judge/judged\?q=title\+of&sort=grade#row-\d+$", answer.headers["Location"])
    assert stored(database, "b") == [(0, False, "half of it"), (2, True, "half of it")]
    assert "Earlier: 1 · b" in words(jo.get(f"{news}/judge/judged"))
    with database.reading() as session:
        assert [one.text for one in session.scalars(select(Evidence))] == ["Text", "Text"]
    # Sent twice it is stored once.
    assert jo.post(action, grade="2", client_id=client_id).status_code == 303
    assert len(stored(database, "b")) == 2


def test_the_script_gets_the_row_alone(visit: Visit, news: str, database: Database) -> None:
    judge_some(database)
    jo = visit("jo")
    action, client_id = form_of(jo.get(f"{news}/judge/judged"), "b")
    answer = jo.post(action, grade="1", client_id=client_id, fragment="1")
    assert answer.status_code == 200
    assert answer.text.count("<tr ") == 1
    assert "1 · Relevant" in words(answer)
    refused = jo.post(action, grade="9", client_id="another", fragment="1")
    assert (refused.status_code, refused.text) == (422, "9 is not a grade of this collection's scale.")


def test_nobody_changes_the_judgement_of_another(visit: Visit, news: str, database: Database) -> None:
    judge_some(database)
    action, client_id = form_of(visit("jo").get(f"{news}/judge/judged"), "b")
    assert visit("kim").post(action, grade="2", client_id=client_id).status_code == 422
    assert stored(database, "b") == [(0, True, "")]


def test_the_list_is_sorted_as_wanted(visit: Visit, news: str, database: Database) -> None:
    judge_some(database)
    jo = visit("jo")

    def order(query: str) -> list[str]:
        return re.findall(r'<span class="hint">(\w)</span>', jo.get(f"{news}/judge/judged{query}").text)

    assert order("") == ["e", "b", "a"]
    assert order("?sort=document&order=ascending") == ["a", "b", "e"]
    assert order("?sort=grade&order=ascending") == ["b", "e", "a"]
    assert order("?sort=topic") == ["e", "b", "a"]
    assert order("?sort=nonsense") == ["e", "b", "a"]


def test_a_requeued_judgement_is_listed_and_explained(visit: Visit, news: str, database: Database) -> None:
    judge_some(database)
    with database.transaction() as session:
        [b] = session.scalars(select(Judgement.id).where(Judgement.grade == 0))
        requeue(session, [b], NOW)
    page = words(visit("jo").get(f"{news}/judge/judged"))
    assert "Documents you judged: 2" in page
    assert "Judgements that no longer count Title of b b · Topic 1" in page
    assert "Your grade was: 0 · Not relevant. The text of the document changed afterwards" in page
    # What takes its place counts, and the list of topics agrees.
    assert "1 first topic 1" in words(visit("jo").get(f"{news}/judge"))


def test_a_document_opened_from_the_list_leads_back_to_its_row(visit: Visit, news: str, database: Database) -> None:
    judge_some(database)
    jo = visit("jo")
    page = jo.get(f"{news}/judge/judged?sort=document")
    link = re.search(r'<a class="open" href="([^"]+)">Title of b', page.text)
    assert link
    opened = jo.get(unescape(link[1]))
    assert "Back to my judgements" in words(opened)
    form = jo.post(unescape(link[1]), grade="2", client_id="of-the-screen")
    assert re.search(r"/judge/judged\?sort=document#row-\d+$", form.headers["Location"])


def test_a_judgement_is_withdrawn_in_the_list_and_its_document_waits_again(
    visit: Visit, news: str, database: Database
) -> None:
    judge_some(database)
    jo = visit("jo")
    action, client_id = form_of(jo.get(f"{news}/judge/judged"), "b")
    assert jo.post(action, client_id=client_id).status_code == 422
    for _ in range(2):  # sent twice, it is stored once
        assert jo.post(action, withdraw="yes", client_id=client_id).status_code == 303
    assert [(grade, current) for grade, current, _ in stored(database, "b")] == [(0, False), (None, False)]
    page = jo.get(f"{news}/judge/judged")
    assert "Documents you judged: 2" in words(page)
    assert "You withdrew your judgement. The document waits for you again." in words(page)
    assert "Title of b" in jo.get(f"{news}/judge/topics/1").text


def test_the_script_gets_a_withdrawn_row_without_buttons(visit: Visit, news: str, database: Database) -> None:
    judge_some(database)
    jo = visit("jo")
    action, client_id = form_of(jo.get(f"{news}/judge/judged"), "b")
    row = jo.post(action, withdraw="yes", client_id=client_id, fragment="1")
    assert row.text.count("<tr ") == 1
    assert "withdrawn The document waits for you again. Earlier: 1" in words(row)
    assert "<button" not in row.text
