"""The pages of announcements and of participants' questions, and what each reader finds on them."""

import pytest
from build import member, run
from sqlalchemy import select
from visiting import Visit, words

from annotator.storage import AuditEvent, Database, Role

HOSTILE = "<script>alert(1)</script> “red” & [x](javascript:alert(1))"


@pytest.fixture
def pages(news: str, database: Database) -> str:
    """The collection of these tests, with a run of pat's team, and tom of another team."""
    with database.transaction() as session:
        member(session, "tom", Role.PARTICIPANT, team="blue")
        run(session, "gamma", {"1": ["a"]}, team="red")
    return news


def ask(visit: Visit, pages: str, text: str, run_: str = "", client_id: str = "q1") -> None:
    sent = visit("pat").post(f"{pages}/team/questions", text=text, run=run_, client_id=client_id)
    assert sent.status_code == 303


def test_a_question_waits_for_the_organisers_and_its_answer_for_the_team(visit: Visit, pages: str) -> None:
    ask(visit, pages, HOSTILE, run_="gamma")
    overview, desk = visit("ola").get(pages), visit("ola").get(f"{pages}/questions")
    assert "Questions without an answer" in overview.text
    assert "pat · Team red · Run gamma" in words(desk)
    assert "<script>alert" not in desk.text
    visit("ola").post(f"{pages}/questions", question="1", answer=HOSTILE)
    assert "New answers to your questions: 1." in words(visit("pat").get(f"{pages}/runs"))
    assert "New answers to your questions: 1." in words(visit("pat").get(pages))
    own = visit("pat").get(f"{pages}/team/questions")
    assert "New answer" in words(own)
    assert "<script>alert" not in own.text
    assert "New answer" not in words(visit("pat").get(f"{pages}/team/questions"))
    assert "alert(1)" not in visit("tom").get(f"{pages}/team/questions").text
    assert "alert(1)" not in visit("tom").get(f"{pages}/announcements").text


def test_an_answer_for_all_participants_does_not_name_who_asked(visit: Visit, pages: str) -> None:
    ask(visit, pages, "Do ties count?", run_="gamma")
    visit("ola").post(f"{pages}/questions", question="1", answer="They do.", public="y")
    seen = words(visit("tom").get(f"{pages}/announcements"))
    assert "Do ties count?" in seen
    assert "They do." in seen
    assert not any(name in seen for name in ("pat", "gamma", "red"))
    assert "Do ties count?" not in words(visit("jo").get(f"{pages}/announcements"))
    visit("ola").post(f"{pages}/announcements/1/withdraw")
    assert "Do ties count?" not in words(visit("tom").get(f"{pages}/announcements"))
    assert "They do." in words(visit("pat").get(f"{pages}/team/questions"))


def test_an_announcement_is_published_changed_and_withdrawn_with_a_line_in_the_log(
    visit: Visit, pages: str, database: Database
) -> None:
    ola, place = visit("ola"), f"{pages}/announcements"
    assert ola.post(place, title="Topics", text=f"*Final*. {HOSTILE}").status_code == 303
    for page in (place, pages, f"{pages}/runs"):
        assert "Topics" in words(visit("pat").get(page))
        assert "<script>alert" not in visit("pat").get(page).text
        assert 'href="javascript' not in visit("pat").get(page).text
    assert "<em>Final</em>" in visit("pat").get(pages).text
    assert "Final" not in words(visit("jo").get(pages))
    assert ola.post(f"{place}/1", title="Topics", text="Changed.", for_everyone="y").status_code == 303
    assert "Changed." in words(visit("jo").get(pages))
    assert ola.post(f"{place}/1", title="Topics", text=" ").status_code == 422
    assert ola.post(f"{place}/1/withdraw").status_code == 303
    assert "There are no announcements yet." in words(visit("pat").get(place))
    with database.reading() as session:
        rows = session.execute(select(AuditEvent.action, AuditEvent.subject).order_by(AuditEvent.id))
        found = [tuple(row) for row in rows if row.action.startswith("announcements.")]
    assert found == [(f"announcements.{verb}", "1") for verb in ("add", "change", "remove")]


def test_a_refused_form_keeps_what_was_written(visit: Visit, pages: str) -> None:
    refused = visit("ola").post(f"{pages}/announcements", title="a" * 201, text="The text.")
    assert refused.status_code == 422
    assert "The text." in refused.text
    lost = visit("pat").post(f"{pages}/team/questions", text="About theirs", run="theirs", client_id="q")
    assert lost.status_code == 422
    assert "There is no run “theirs” in this collection." in words(lost)
    assert "About theirs" in lost.text


def test_the_pages_are_in_korean_as_well(visit: Visit, pages: str) -> None:
    ask(visit, pages, "동점도 세나요?")
    pat = visit("pat")
    pat.post("/language", language="ko", next="/")
    assert "팀의 질문" in words(pat.get(f"{pages}/team/questions"))
    assert "아직 공지가 없습니다." in words(pat.get(f"{pages}/announcements"))
