"""The judge's desk on pages and for scripts: guidelines, notes, words, questions."""

import html
import json
import re
from typing import Any

import pytest
from flask import Flask
from visiting import Visit, Visitor, hidden, words
from werkzeug.test import TestResponse

from annotator.storage import Database
from annotator.workflows.collections.collection import close_collection

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


def send(visitor: Visitor, path: str, body: Any) -> TestResponse:  # noqa: ANN401 - also what no script should send
    """POST as the screen's script does."""
    return visitor.client.post(path, data=json.dumps(body), content_type="application/json", headers={"Accept": "*/*"})


def questions_of(visitor: Visitor, news: str) -> list[dict[str, Any]]:
    """As the screen's script gets them."""
    answer = visitor.get(f"{news}/judge/questions", headers={"Accept": "*/*"}).json
    assert answer is not None
    found: list[dict[str, Any]] = answer["questions"]
    return found


# Guidelines


def test_who_accepts_changed_guidelines_returns_to_the_document(visit: Visit, news: str) -> None:
    ola, jo = visit("ola"), visit("jo")
    ola.post(f"{news}/guidelines/edit", text="Be **fair**.")
    page = jo.get(f"{news}/guidelines?next={news}/judge/topics/1")
    address = re.search(r'action="([^"]*/guidelines[^"]*)"', page.text)
    assert address is not None
    accepted = jo.post(html.unescape(address[1]), number=hidden(page, "number"))
    assert accepted.headers["Location"] == f"{news}/judge/topics/1"
    ola.post(f"{news}/guidelines/edit", text="Be kind.")
    page = jo.get(f"{news}/guidelines")
    elsewhere = jo.post(f"{news}/guidelines?next=//evil.example/", number=hidden(page, "number"))
    assert elsewhere.headers["Location"] == f"{news}/judge"


def test_a_judge_accepts_the_guidelines_with_a_button_and_organisers_see_it(visit: Visit, news: str) -> None:
    jo, ola = visit("jo"), visit("ola")
    ola.post(f"{news}/guidelines/edit", text="Be fair.")
    page = jo.get(f"{news}/guidelines")
    assert "Please read the guidelines" in words(page)
    accepted = jo.post(f"{news}/guidelines", number=hidden(page, "number"))
    assert (accepted.status_code, accepted.headers["Location"]) == (303, f"{news}/judge")
    assert "You have accepted this version." in words(jo.get(f"{news}/guidelines"))
    ola.post(f"{news}/guidelines/edit", text="Be fair and quick.")
    assert "The guidelines have changed since you accepted them." in words(jo.get(f"{news}/guidelines"))
    page_of_ola = words(ola.get(f"{news}/guidelines"))
    assert "jo version 1, no longer current" in page_of_ola
    assert "kim none yet" in page_of_ola
    assert "I have read the guidelines" not in page_of_ola
    assert "Who has accepted" not in words(jo.get(f"{news}/guidelines"))


def test_guidelines_that_changed_meanwhile_are_to_be_read_anew(visit: Visit, news: str) -> None:
    jo, ola = visit("jo"), visit("ola")
    ola.post(f"{news}/guidelines/edit", text="Be fair.")
    ola.post(f"{news}/guidelines/edit", text="Be quick.")
    refused = jo.post(f"{news}/guidelines", number="1")
    assert refused.status_code == 409
    assert "The guidelines have changed since you opened them" in words(refused)
    assert hidden(refused, "number") == "2"


# Notes and words


def test_a_note_and_words_are_kept_by_script_and_by_form(visit: Visit, news: str) -> None:
    jo = visit("jo")
    assert send(jo, f"{news}/judge/topics/1/note", {"text": "Cats only."}).json == {"saved": True}
    assert send(jo, f"{news}/judge/topics/1/marks", {"words": ["cat", "Lion"]}).json == {"saved": True}
    page = jo.get(f"{news}/judge/notes/1", headers=BROWSER)
    assert ">Cats only.</textarea>" in page.text.replace("\r\n", "")
    assert "cat\nLion</textarea>" in page.text.replace("\r\n", "")
    kept = jo.post(f"{news}/judge/notes/1", note="Cats\r\nand lions.", marks="cat\r\n\r\n tiger ")
    assert (kept.status_code, kept.headers["Location"]) == (303, f"{news}/judge/topics/1")
    page = jo.get(f"{news}/judge/notes/1", headers=BROWSER)
    assert "Cats\nand lions.</textarea>" in page.text.replace("\r\n", "")
    assert "cat\ntiger</textarea>" in page.text.replace("\r\n", "")


def test_notes_are_for_their_judge_and_the_organisers(visit: Visit, news: str) -> None:
    send(visit("jo"), f"{news}/judge/topics/1/note", {"text": "Unmistakable."})
    assert "Unmistakable." in words(visit("ola").get(f"{news}/notes"))
    kim = visit("kim")
    assert "Unmistakable." not in kim.get(f"{news}/judge/notes/1", headers=BROWSER).text
    assert kim.get(f"{news}/notes").status_code == 403


@pytest.mark.parametrize(
    ("path", "body", "status", "sentence"),
    [
        ("topics/1/note", {"text": 7}, 422, "“text” must be a text."),
        ("topics/1/note", {}, 422, "“text” must be a text."),
        ("topics/1/note", ["text"], 422, "This address takes a JSON object."),
        ("topics/1/note", {"text": "\ud800"}, 422, "A text has a character that cannot be stored"),
        ("topics/1/note", {"text": "\0"}, 422, "A text has a character that cannot be stored"),
        ("questions", {"text": "How?", "id": "q", "topic": "\0"}, 422, "A text has a character that cannot be stored"),
        ("questions/read", {"ids": ["\0"]}, 422, "A text has a character that cannot be stored"),
        ("topics/9/note", {"text": "x"}, 404, "There is no topic “9”"),
        ("topics/1/marks", {"words": "cat"}, 422, "“words” must be a list of texts."),
        ("topics/1/marks", {"words": [1]}, 422, "“words” must be a list of texts."),
        ("questions", {"text": "How?"}, 422, "“id” must be a text."),
        ("questions", {"text": " ", "id": "q"}, 422, "A question cannot be empty."),
        ("questions", {"text": "How?", "id": "q", "assignment": "1"}, 422, "“assignment” must be the number"),
        ("questions", {"text": "How?", "id": "q", "assignment": 10**12}, 422, "“assignment” must be the number"),
        ("questions", {"text": "How?", "id": "q", "assignment": 77}, 404, "You have no such assignment."),
        ("questions", {"text": "How?", "id": "q", "topic": "9"}, 404, "There is no topic “9”"),
        ("questions/read", {"ids": "q"}, 422, "“ids” must be a list of texts."),
    ],
)
def test_a_script_is_refused_with_status_and_sentence(
    visit: Visit, news: str, path: str, body: object, status: int, sentence: str
) -> None:
    answer = send(visit("jo"), f"{news}/judge/{path}", body)
    assert answer.status_code == status
    assert answer.json is not None
    assert answer.json["status"] == status
    assert answer.json["sentence"].startswith(sentence)


def test_a_script_learns_in_json_that_it_is_a_guest_a_stranger_or_no_judge(visit: Visit, news: str) -> None:
    for name, path, status in (
        (None, news, 401),
        ("ola", news, 403),
        ("ada", news, 403),
        ("jo", "/collections/nows", 404),
    ):
        answer = send(visit(name), f"{path}/judge/topics/1/note", {"text": "x"})
        assert answer.json is not None
        assert (answer.status_code, answer.json["status"]) == (status, status)
        assert answer.json["sentence"]


def test_a_script_without_a_token_or_for_a_closed_collection_is_refused_in_its_language(
    visit: Visit, news: str, app: Flask, database: Database
) -> None:
    jo = visit("jo")
    with database.transaction() as session:
        close_collection(session, "news")
    closed = send(jo, f"{news}/judge/topics/1/note", {"text": "x"})
    assert closed.json == {"status": 409, "sentence": "Judging has ended: the organiser has closed this collection."}
    app.config["WTF_CSRF_ENABLED"] = True
    stale = send(jo, f"{news}/judge/topics/1/note", {"text": "x"})
    assert stale.json is not None
    assert stale.json["status"] == stale.status_code == 400
    assert stale.json["sentence"].startswith("Its security token is missing")


# Questions


def test_a_question_goes_from_the_screen_to_the_organiser_and_the_answer_back(visit: Visit, news: str) -> None:
    jo, ola = visit("jo"), visit("ola")
    for _ in range(2):
        sent = send(jo, f"{news}/judge/questions", {"id": "q1", "text": "Do <b>kittens</b> count?", "topic": "1"})
        assert sent.json == {"saved": True}
    page = ola.get(f"{news}/questions")
    assert "Open: 1 of 1." in words(page)
    assert "Do &lt;b&gt;kittens&lt;/b&gt; count?" in page.text
    answered = ola.post(f"{news}/questions", question=hidden(page, "question"), answer="They do.")
    assert answered.status_code == 303
    assert "Answer of ola" in words(ola.get(f"{news}/questions"))
    late = ola.post(
        f"{news}/questions", question=hidden(page, "question"), seen=hidden(page, "seen"), answer="They do not."
    )
    assert late.status_code == 409
    assert "The answer has changed since you opened the page." in words(late)
    [question] = questions_of(jo, news)
    assert (question["id"], question["topic"], question["answer"], question["new"]) == ("q1", "1", "They do.", True)
    assert send(jo, f"{news}/judge/questions/read", {}).json == {"saved": True}
    assert questions_of(jo, news)[0]["new"] is False
    assert "seen by jo" in words(ola.get(f"{news}/questions"))


def test_without_script_a_judge_asks_by_form_and_reads_the_answer_on_a_page(visit: Visit, news: str) -> None:
    jo, ola = visit("jo"), visit("ola")
    form = jo.get(f"{news}/judge/questions/new?topic=1", headers=BROWSER)
    assert "About topic 1: first topic" in words(form)
    fields = {"client_id": hidden(form, "client_id"), "topic": "1", "text": "Do kittens count?"}
    for _ in range(2):  # a double click
        assert jo.post(f"{news}/judge/questions", **fields).status_code == 303
    page = words(jo.get(f"{news}/judge/questions", headers=BROWSER))
    assert page.count("Do kittens count?") == 1
    assert "There is no answer yet." in page
    ola.post(f"{news}/questions", question="1", answer="They do.")
    assert "New answer" in words(jo.get(f"{news}/judge/questions", headers=BROWSER))
    assert "New answer" not in words(jo.get(f"{news}/judge/questions", headers=BROWSER))


def test_what_was_typed_is_on_the_page_that_refuses_it(visit: Visit, news: str) -> None:
    jo, ola = visit("jo"), visit("ola")
    refused = jo.post(f"{news}/judge/questions", client_id="q 1", text="Do kittens count?", topic="1")
    assert refused.status_code == 422
    assert "Do kittens count?" in refused.text
    send(jo, f"{news}/judge/questions", {"id": "q1", "text": "How?"})
    refused = ola.post(f"{news}/questions", question="1", answer="x" * 10_001)
    assert refused.status_code == 422
    assert "x" * 10_001 in refused.text


@pytest.mark.parametrize(
    ("about", "sentence"),
    [
        ({"assignment": "99999999999999999999"}, "You have no such assignment."),
        ({"assignment": "-1"}, "You have no such assignment."),
        ({"assignment": "seven"}, "You have no such assignment."),
        ({"assignment": "77"}, "You have no such assignment."),
        ({"topic": "9"}, "There is no topic “9”"),
    ],
)
def test_a_question_about_what_is_not_there_keeps_its_text_and_can_be_sent_about_anything(
    visit: Visit, news: str, about: dict[str, str], sentence: str
) -> None:
    jo = visit("jo")
    refused = jo.post(f"{news}/judge/questions", client_id="q1", text="Do kittens count?", **about)
    assert refused.status_code == 422
    assert sentence in words(refused)
    assert ">Do kittens count?</textarea>" in refused.text.replace("\r\n", "")
    assert 'name="assignment"' not in refused.text
    assert 'name="topic"' not in refused.text
    assert jo.post(f"{news}/judge/questions", client_id="q1", text="Do kittens count?").status_code == 303


def test_an_address_with_a_number_no_assignment_has_is_of_nothing(visit: Visit, news: str) -> None:
    jo = visit("jo")
    for number in ("99999999999999999999", "-1", "77"):
        assert jo.get(f"{news}/judge/questions/new?assignment={number}", headers=BROWSER).status_code == 404


def test_who_is_waited_for_is_told_on_their_overview_until_it_is_done(visit: Visit, news: str) -> None:
    jo, kim, ola = visit("jo"), visit("kim"), visit("ola")
    waiting = "Questions without an answer"
    assert waiting not in words(ola.get(news))
    for number in ("q1", "q2"):
        send(jo, f"{news}/judge/questions", {"id": number, "text": "How?"})
    page = ola.get(news)
    assert f"2 {waiting}" in words(page)
    assert f'<a href="{news}/questions"><strong>2' in page.text
    told = "New answers to your questions: 2."
    for number in ("1", "2"):
        assert told not in words(jo.get(f"{news}/judge"))
        ola.post(f"{news}/questions", question=number, answer="So.")
    assert waiting not in words(ola.get(news))
    for path in (news, f"{news}/judge"):
        page = jo.get(path)
        assert told in words(page)
        assert f'<a href="{news}/judge/questions">New answers' in page.text
        assert "New answers" not in words(kim.get(path))
    jo.get(f"{news}/judge/questions", headers=BROWSER)
    for path in (news, f"{news}/judge"):
        assert "New answers" not in words(jo.get(path))


def test_judges_see_nothing_of_each_others_questions(visit: Visit, news: str) -> None:
    send(visit("jo"), f"{news}/judge/questions", {"id": "q1", "text": "Unmistakable?"})
    kim = visit("kim")
    assert questions_of(kim, news) == []
    assert "Unmistakable" not in kim.get(f"{news}/judge/questions", headers=BROWSER).text
    assert kim.get(f"{news}/questions").status_code == 403
