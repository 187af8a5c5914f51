"""Stepping through lists on pages: for organisers with names, for adjudicators blind, for nobody else."""

import re

import pytest
from build import SLUG, labels, member
from kept import Kept
from sqlalchemy import select, update
from visiting import Visit, words
from web.judging.test_judging_protocol import batch_of

from annotator.storage import Assignment, Collection, Database, Judgement, PoolItem, Purpose, Role
from annotator.workflows.collections.collection import close_collection


@pytest.fixture
def judged(news: str, database: Database, kept: Kept) -> str:
    """Quentin and Xanthippe differ on a, b and c of topic 1; eve adjudicates."""
    kept.fill(database, add_grades)
    return news


def add_grades(database: Database) -> None:
    with database.transaction() as session:
        labels(session, "quentin", "1 0 a 0\n1 0 b 2\n1 0 c 1\n", name="quentin.qrels")
        labels(session, "xanthippe", "1 0 a 2\n1 0 b 0\n1 0 c 2\n", name="xanthippe.qrels")
        session.execute(update(Judgement).where(Judgement.grade == 2).values(note="It is on topic."))
        member(session, "eve", Role.ADJUDICATOR)


def decided(database: Database) -> list[int | None]:
    with database.reading() as session:
        own = select(Judgement.grade).join(Assignment, Assignment.id == Judgement.assignment_id)
        return list(session.scalars(own.where(Assignment.purpose == Purpose.ADJUDICATION).order_by(Judgement.id)))


def links(text: str, address: str) -> list[str]:
    return [link.replace("&amp;", "&") for link in re.findall(rf'href="({re.escape(address)}[^"]*)"', text)]


def test_each_list_leads_to_its_review_with_its_filter(visit: Visit, judged: str, database: Database) -> None:
    with database.transaction() as session:
        session.execute(update(PoolItem).values(known_grade=0, for_everyone=True))
    ola = visit("ola")
    pages = {
        "disagreements?topic=1&undecided=1": ["/review/disagreements?topic=1&undecided=1"],
        "gold-questions": [
            "/review/gold-questions",
            "/review/gold-questions?judge=quentin",
            "/review/gold-questions?judge=xanthippe",
        ],
        "judges/judge?name=quentin": [
            "/review/judge?judge=quentin",
            *(f"/review/judge?judge=quentin&grade={grade}" for grade in range(3)),
            "/review/gold-questions?judge=quentin",
        ],
    }
    for page, expected in pages.items():
        found = links(ola.get(f"{judged}/{page}").text, f"{judged}/review/")
        assert found == [f"{judged}{link}" for link in expected], page
        assert ola.get(found[0]).status_code == 200
    eve = visit("eve")
    assert links(eve.get(f"{judged}/adjudicate").text, f"{judged}/adjudicate/review") == [
        f"{judged}/adjudicate/review",
        f"{judged}/adjudicate/review?topic=1",
    ]


def test_without_script_links_lead_to_the_neighbours_and_back_to_the_place_in_the_list(
    visit: Visit, judged: str
) -> None:
    ola = visit("ola")
    page = ola.get(f"{judged}/review/disagreements?apart=1&at=2")
    assert "2 of 3" in words(page)
    assert "quentin" in page.text
    assert "It is on topic." in page.text
    assert f'href="{judged}/disagreements?page=1#card-2"' in page.text
    before, after = links(page.text, f"{judged}/review/disagreements?in=")
    assert ("at=1" in before, "at=3" in after) == (True, True)
    assert "3 of 3" in words(ola.get(after))
    assert 'name="grade"' not in page.text
    assert f'action="{judged}' not in page.text


def test_the_script_is_sent_one_document_with_all_judgements(visit: Visit, judged: str) -> None:
    ola = visit("ola")
    first = batch_of(ola.get(f"{judged}/review/judge?judge=xanthippe"))["documents"][0]
    assert (first["position"], first["total"], first["previous"]) == (1, 3, None)
    one = ola.client.get(f"{judged}/review/judge.json?judge=xanthippe&{first['next']}&at=2").get_json()
    assert (one["position"], one["previous"]) == (2, first["assignment"])
    # Those of the judge whose list it is come first.
    assert [note["who"] for note in one["notes"]] == ["xanthippe", "quentin"]
    assert one["topic"]["title"] == "first topic"
    assert ola.client.get(f"{judged}/review/parts/1?{one['assignment']}").get_json()["html"] == one["html"]


def test_an_adjudicator_is_sent_no_name_and_no_grade_and_decides_by_form_and_by_script(
    visit: Visit, judged: str, database: Database
) -> None:
    eve = visit("eve")
    page = eve.get(f"{judged}/adjudicate/review")
    first = batch_of(page)["documents"][0]
    answer = eve.client.get(f"{judged}/adjudicate/review.json?{first['next']}&at=2")
    for text in (page.text, answer.text):
        assert re.findall(r"quentin|xanthippe|\"known\": ?\"|\"rank\"|\"score\"", text) == []
        assert '"given":[' not in text.replace(" ", "")
        assert "It is on topic." in text
    assert answer.get_json()["decision"] is None
    action = f"{judged}/adjudicate/review?{first['assignment']}&at=1"
    assert action.replace("&", "&amp;") in page.text
    stored = eve.post(action, grade="2", client_id="plain-1", note="Both are wrong.")
    assert stored.status_code == 303
    assert stored.location == f"{judged}/adjudicate/review?{first['next']}&at=2"
    sent = eve.post(f"{judged}/adjudicate/review?{first['next']}&at=2", grade="1", client_id="script-1", fragment="1")
    assert (sent.get_json()["decision"]["grade"], sent.get_json()["position"]) == (1, 2)
    assert decided(database) == [2, 1]
    refused = eve.post(action, grade="7", client_id="script-2", fragment="1")
    assert (refused.status_code, refused.get_json()["status"]) == (422, 422)
    assert decided(database) == [2, 1]


def test_a_document_that_another_adjudicator_holds_is_refused_with_the_reason(
    visit: Visit, judged: str, database: Database
) -> None:
    with database.transaction() as session:
        member(session, "ann", Role.ADJUDICATOR)
    batch_of(visit("ann").get(f"{judged}/adjudicate/topics/1"))
    eve = visit("eve")
    answer = eve.post(f"{judged}/adjudicate/review?in=1&docno=a&at=1", grade="1", client_id="late-1", fragment="1")
    assert answer.status_code == 409
    assert "another adjudicator holds it" in answer.get_json()["sentence"]
    page = eve.post(f"{judged}/adjudicate/review?in=1&docno=a&at=1", grade="1", client_id="late-1", note="Mine.")
    assert (page.status_code, "Mine." in page.text) == (409, True)
    assert decided(database) == []


def test_in_a_closed_collection_nothing_is_decided(visit: Visit, judged: str, database: Database) -> None:
    with database.transaction() as session:
        close_collection(session, SLUG)
    eve = visit("eve")
    page = eve.get(f"{judged}/adjudicate/review")
    assert (page.status_code, 'name="grade"' in page.text) == (200, False)
    assert eve.post(f"{judged}/adjudicate/review?in=1&docno=a", grade="1", client_id="c-1").status_code == 409


def test_the_grades_come_where_the_collection_shows_them(visit: Visit, judged: str, database: Database) -> None:
    with database.transaction() as session:
        session.execute(update(Collection).values(shows_grades=True))
    first = batch_of(visit("eve").get(f"{judged}/adjudicate/review?in=1&docno=a"))["documents"][0]
    assert first["given"] == [0, 2]
    assert first["notes"] == [{"note": "It is on topic.", "evidence": [], "grade": 2, "cannot_judge": None}]


@pytest.mark.parametrize("who", ["jo", "kim", "pat", "eve"])
def test_nobody_but_organisers_reads_what_each_judge_said(visit: Visit, judged: str, who: str) -> None:
    visitor = visit(who)
    for path in (
        "disagreements",
        "disagreements.json",
        "gold-questions",
        "judge?judge=quentin",
        "parts/1?in=1&docno=a",
    ):
        answer = visitor.get(f"{judged}/review/{path}")
        assert answer.status_code == 403
        assert "quentin" not in answer.text.replace("judge=quentin", "").replace("judge%3Dquentin", "")


def test_an_empty_list_and_an_unknown_judge_are_not_found(visit: Visit, judged: str) -> None:
    ola = visit("ola")
    assert "No matching documents." in ola.get(f"{judged}/review/gold-questions").text
    assert ola.get(f"{judged}/review/judge?judge=nobody").status_code == 404
    assert ola.get(f"{judged}/review/judge").status_code == 404
    assert ola.get(f"{judged}/review/others").status_code == 404
