"""The judging screen: from the form to the stored judgement, and nothing on it that a judge must not see."""

import re

import pytest
from access_matrix import MATRIX
from build import labels, member, run
from sqlalchemy import select
from visiting import Visit, hidden, words

from annotator.storage import AuditEvent, Database, Judgement, Role
from annotator.workflows.collections.collection import (
    CollectionChange,
    change_collection,
    close_collection,
    read_scale,
)


def judgements(database: Database) -> list[Judgement]:
    """Everything stored, in order."""
    with database.reading() as session:
        return list(session.scalars(select(Judgement).order_by(Judgement.id)))


def action(page: str) -> str:
    """Where the judging form goes."""
    return page.partition('id="grading"')[2].partition('action="')[2].partition('"')[0]


def test_a_judge_sees_topics_then_a_document_and_the_next_after_each_grade(
    visit: Visit, news: str, database: Database
) -> None:
    jo = visit("jo")
    topics = jo.get(f"{news}/judge")
    assert f"{news}/judge/topics/1" in topics.text
    page = jo.get(f"{news}/judge/topics/1")
    assert "1 of 4" in words(page)
    for grade in ("2", "0", "1", "2"):
        answer = jo.post(action(page.text), grade=grade, client_id=hidden(page, "client_id"), seconds="3.5")
        assert (answer.status_code, answer.location) == (303, f"{news}/judge/topics/1")
        page = jo.get(answer.location)
    assert "Nothing left for you in topic 1" in words(page)
    stored = judgements(database)
    assert [(one.grade, one.seconds) for one in stored] == [(2, 3.5), (0, 3.5), (1, 3.5), (2, 3.5)]
    assert len({one.pool_item_id for one in stored}) == 4


def test_a_page_shows_topic_text_and_every_grade_with_its_key(visit: Visit, news: str, database: Database) -> None:
    scale = read_scale("0=Off topic\n1=Partly | It answers a part\n2=Fully")
    with database.transaction() as session:
        change_collection(session, "news", CollectionChange(scale=scale))
    page = visit("jo").get(f"{news}/judge/topics/2")
    for text in ("second topic", "Text of", "0 Off topic", "1 Partly", "2 Fully", "Cannot judge", "Note"):
        assert text in words(page)
    assert 'title="It answers a part"' in page.text


def test_the_same_form_sent_twice_is_one_judgement(visit: Visit, news: str, database: Database) -> None:
    jo = visit("jo")
    page = jo.get(f"{news}/judge/topics/1")
    for _ in range(2):
        answer = jo.post(action(page.text), grade="1", client_id=hidden(page, "client_id"))
        assert answer.status_code == 303
    assert len(judgements(database)) == 1


def test_undo_leads_back_to_the_document_with_its_grade_marked_and_another_replaces_it(
    visit: Visit, news: str, database: Database
) -> None:
    jo = visit("jo")
    first = jo.get(f"{news}/judge/topics/1")
    jo.post(action(first.text), grade="2", client_id=hidden(first, "client_id"), note="at first sight")
    second = jo.get(f"{news}/judge/topics/1")
    link = re.search(r'<a [^>]*id="undo"[^>]*>', second.text)
    assert link is not None
    assert f'href="{action(first.text)}"' in link[0]
    again = jo.get(action(first.text))
    assert "You judged this document: Highly relevant." in words(again)
    assert again.text.count('class="chosen"') == 1
    assert "at first sight" in again.text
    jo.post(action(again.text), grade="0", client_id=hidden(again, "client_id"), note="on reflection")
    assert [(one.grade, one.current, one.note) for one in judgements(database)] == [
        (2, False, "at first sight"),
        (0, True, "on reflection"),
    ]
    assert "on reflection" in words(jo.get(f"{news}/judge/judged"))


def test_a_document_that_cannot_be_judged_gets_a_reason_and_no_grade(
    visit: Visit, news: str, database: Database
) -> None:
    jo = visit("jo")
    page = jo.get(f"{news}/judge/topics/1")
    jo.post(action(page.text), cannot_judge="language", client_id=hidden(page, "client_id"))
    [stored] = judgements(database)
    assert (stored.grade, stored.cannot_judge) == (None, "language")
    assert "I do not read its language" in words(jo.get(f"{news}/judge/judged"))


@pytest.mark.parametrize(
    "fields",
    [
        {"grade": "7"},
        {"grade": "-1"},
        {"grade": "99999999999999999999"},
        {"grade": "two"},
        {},
        {"grade": "1", "cannot_judge": "broken"},
        {"cannot_judge": "bored"},
        {"grade": "1", "client_id": ""},
        {"grade": "1", "client_id": "not an id"},
        {"grade": "1", "note": "n" * 10_001},
    ],
)
def test_a_judgement_that_is_none_is_refused_and_the_note_is_kept(
    visit: Visit, news: str, database: Database, fields: dict[str, str]
) -> None:
    jo = visit("jo")
    page = jo.get(f"{news}/judge/topics/1")
    sent = {"client_id": hidden(page, "client_id"), "note": "typed with care", **fields}
    answer = jo.post(action(page.text), **sent)
    assert answer.status_code == 422
    assert sent["note"] in answer.text
    assert judgements(database) == []


@pytest.mark.parametrize("seconds", ["", "nan", "inf", "soon", "-5"])
def test_seconds_that_are_nonsense_do_not_stop_a_judgement(
    visit: Visit, news: str, database: Database, seconds: str
) -> None:
    jo = visit("jo")
    page = jo.get(f"{news}/judge/topics/1")
    assert jo.post(action(page.text), grade="1", client_id="an-id", seconds=seconds).status_code == 303
    [stored] = judgements(database)
    assert stored.seconds in {None, 0.0}


@pytest.mark.parametrize("number", ["0", "99", "9223372036854775807", "9223372036854775808", "9" * 40, "one"])
def test_an_assignment_that_is_not_there_is_not_found(visit: Visit, news: str, number: str) -> None:
    jo = visit("jo")
    assert jo.get(f"{news}/judge/assignments/{number}").status_code == 404
    assert jo.post(f"{news}/judge/assignments/{number}", grade="1", client_id="x").status_code == 404


def test_another_judges_assignment_is_not_found(visit: Visit, news: str, database: Database) -> None:
    page = visit("jo").get(f"{news}/judge/topics/1")
    kim = visit("kim")
    assert kim.get(action(page.text)).status_code == 404
    assert kim.post(action(page.text), grade="1", client_id="x").status_code == 404
    assert judgements(database) == []


def test_a_topic_that_is_not_there_is_not_found(visit: Visit, news: str) -> None:
    answer = visit("jo").get(f"{news}/judge/topics/77")
    assert answer.status_code == 404
    assert "There is no topic “77” in this collection." in words(answer)


def test_a_closed_collection_takes_no_judgement_and_says_so(visit: Visit, news: str, database: Database) -> None:
    jo = visit("jo")
    page = jo.get(f"{news}/judge/topics/1")
    with database.transaction() as session:
        close_collection(session, "news")
    refused = jo.post(action(page.text), grade="1", client_id=hidden(page, "client_id"), note="typed with care")
    assert refused.status_code == 409
    assert "Judging has ended: the organiser has closed this collection." in words(refused)
    assert "typed with care" in refused.text
    assert jo.get(f"{news}/judge/topics/1").status_code == 409
    assert jo.get(f"{news}/judge").status_code == 200
    assert judgements(database) == []


def test_a_document_without_text_says_so(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        labels(session, "nist", "2 0 bodiless 1\n", add_to_pool=True)
    jo = visit("jo")
    pages = []
    for _ in range(3):
        page = jo.get(f"{news}/judge/topics/2")
        pages.append(page.text)
        jo.post(action(page.text), grade="0", client_id=hidden(page, "client_id"))
    # The sentence is there for the script in any case, hidden where there is a text.
    assert sum('id="no-text" hidden' not in page for page in pages) == 1


def test_nothing_a_judge_can_open_tells_of_runs_ranks_scores_or_other_judges(
    visit: Visit, news: str, database: Database
) -> None:
    with database.transaction() as session:
        run(session, "zebra-run", {"1": ["a", "quagga"], "2": ["a"]}, team="giraffe-team")
        member(session, "otter", Role.JUDGE)
        labels(session, "walrus", "1 0 a 2\n1 0 b 0\n2 0 a 1\n", name="heron.qrels")
    kim = visit("kim")
    page = kim.get(f"{news}/judge/topics/1")
    kim.post(action(page.text), grade="2", client_id="kims", note="kim's own badger note")
    jo = visit("jo")
    own = jo.get(f"{news}/judge/topics/1")
    jo.post(action(own.text), grade="1", client_id="jos")
    # The matrix has every page there is: tests/test_access.py sees to that.
    paths = {row.path for row in MATRIX.values() if row.method == "GET"} | {action(own.text), f"{news}/judge/topics/2"}
    paths -= {"/static/site/style.css", "/measures"}  # the same for everybody
    opened = [answer for answer in map(jo.get, sorted(paths)) if answer.status_code == 200]
    assert len(opened) >= 9
    secrets = ("zebra-run", "giraffe-team", "otter", "walrus", "heron", "badger", "alpha", "beta", "kim")
    # Scores; inside a token they are chance.
    scores = re.compile(r"(?<![\w.-])99[89](?![\w.-])")
    for answer in opened:
        text = answer.text.replace(hidden_parts(answer.text), "")
        assert [secret for secret in secrets if secret in text] == [], answer.request.path
        assert scores.findall(text) == [], answer.request.path


def hidden_parts(page: str) -> str:
    """The random id in the form, which may hold any digits."""
    return page.partition('name="client_id" value="')[2].partition('"')[0]


def test_the_judging_page_can_be_kept_by_the_back_button_and_others_cannot(visit: Visit, news: str) -> None:
    jo = visit("jo")
    assert jo.get(f"{news}/judge/topics/1").headers["Cache-Control"] == "private, no-cache"
    assert jo.get(f"{news}/judge").headers["Cache-Control"] == "no-store"


def test_an_organiser_judges_without_being_added_first(visit: Visit, news: str, database: Database) -> None:
    ola = visit("ola")
    assert "you become a judge of this collection" in words(ola.get(f"{news}/judge"))
    assert "Judge this topic" in words(ola.get(f"{news}/judge/topics/1"))
    assert "ola judge" not in words(ola.get(f"{news}/members"))  # to open a page changes nothing
    answer = ola.post(f"{news}/judge/topics/1")
    assert (answer.status_code, answer.location) == (303, f"{news}/judge/topics/1")
    assert "Judge this topic" not in words(ola.get(answer.location))
    assert ola.post(f"{news}/judge/topics/1").status_code == 303  # again, which changes nothing
    assert "you become a judge" not in words(ola.get(f"{news}/judge"))
    assert "ola judge" in words(ola.get(f"{news}/members"))
    with database.reading() as session:
        events = session.scalars(select(AuditEvent).where(AuditEvent.action == "members.add")).all()
        assert [(event.subject, event.details["role"]) for event in events] == [("ola", "judge")]
