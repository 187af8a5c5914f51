"""Clarifications on pages: organisers publish answers and write texts, judges see them beside the topic."""

import json

from visiting import Visit, hidden, words

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


def test_a_public_answer_reaches_another_judge_once_without_script_and_without_the_name(
    visit: Visit, news: str
) -> None:
    jo, kim, ola = visit("jo"), visit("kim"), visit("ola")
    jo.post(f"{news}/judge/questions", client_id="q1", topic="1", text="Does a lion count?")
    page = ola.get(f"{news}/questions")
    assert "Show question and answer to all judges of the topic" in words(page)
    ola.post(f"{news}/questions", question="1", answer="It does.", public="y")
    screen = kim.get(f"{news}/judge/topics/1", follow_redirects=True)
    assert "New from the organisers Does a lion count? It does." in words(screen)
    assert "Clarifications ( 1 )" in words(screen)
    assert "jo" not in {word.strip(".,:;()") for word in words(screen).split()}
    here = screen.request.path
    done = kim.post(f"{news}/judge/topics/1/clarifications", id=hidden(screen, "id"), next=here)
    assert (done.status_code, done.headers["Location"]) == (303, here)
    again = kim.get(here)
    assert 'id="news" method="post"' in again.text
    assert json_of(again.text)["clarifications"]["rows"][0]["new"] is False
    assert "Clarifications ( 1 )" in words(again)
    away = kim.post(f"{news}/judge/topics/1/clarifications", id="1", next="https://evil.example/")
    assert away.headers["Location"] == f"{news}/judge/topics/1"


def json_of(page: str) -> dict[str, dict[str, list[dict[str, object]]]]:
    found: dict[str, dict[str, list[dict[str, object]]]] = json.loads(
        page.split('<script type="application/json" id="batch">')[1].split("</script>", maxsplit=1)[0]
    )
    return found


def test_organisers_write_and_remove_a_clarification(visit: Visit, news: str) -> None:
    ola, jo = visit("ola"), visit("jo")
    refused = ola.post(f"{news}/clarifications", topic="1", text=" ")
    assert refused.status_code == 422
    unknown = ola.post(f"{news}/clarifications", topic="9", text="So.")
    assert (unknown.status_code, "There is no topic “9”" in words(unknown)) == (422, True)
    written = ola.post(f"{news}/clarifications", topic="1", text="Lions count.")
    assert written.headers["Location"] == f"{news}/questions"
    assert "Lions count." in words(ola.get(f"{news}/questions"))
    rows = jo.get(f"{news}/judge/topics/1/clarifications.json").json
    assert rows == {"clarifications": [{"id": 1, "question": None, "text": "Lions count.", "new": True}]}
    sent = jo.client.post(f"{news}/judge/topics/1/clarifications", json={"ids": [1]}, headers={"Accept": "*/*"})
    assert sent.json == {"saved": True}
    assert "seen by judges: 1" in words(ola.get(f"{news}/questions"))
    wrong = jo.client.post(f"{news}/judge/topics/1/clarifications", json={"ids": ["1"]}, headers={"Accept": "*/*"})
    assert wrong.status_code == 422
    ola.post(f"{news}/clarifications/1/remove")
    assert jo.get(f"{news}/judge/topics/1/clarifications.json").json == {"clarifications": []}
