"""Questions of participants: kept within their team, answered privately or for all, with an e-mail to who asked."""

from datetime import datetime, timedelta

import pytest
from build import NOW, SLUG, member, news, run, topic_file
from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.storage import Collection, EmailAddress, Mail, MailKind, Membership, Question, Role, User
from annotator.storage.people.accounts import find_or_add_team
from annotator.storage.site.mail import record_sent
from annotator.workflows.collections import announcements, collection
from annotator.workflows.collections.waiting import waiting
from annotator.workflows.judging import questions
from annotator.workflows.judging.judge_access import find_judge
from annotator.workflows.people.email_addresses import choose_mail
from annotator.workflows.people.erasure import forget_user
from annotator.workflows.runs import team_questions
from annotator.workflows.runs.mail_taking import take_true_mail
from annotator.workflows.runs.team_questions import MOST_QUESTIONS, WINDOW

LATER = NOW + timedelta(hours=1)


@pytest.fixture
def pat(session: Session) -> int:
    """A participant of team red with an address, beside sam of the same team, and tom of team blue."""
    news(session)
    topic_file(session)
    found = member(session, "pat", Role.PARTICIPANT, team="red")
    for name, team in (("sam", "red"), ("tom", "blue")):
        member(session, name, Role.PARTICIPANT, team=team)
    run(session, "alpha", {"1": ["a"]}, team="red")
    run(session, "beta", {"1": ["a"]}, team="blue")
    with_address(session, found)
    return found


def with_address(session: Session, user_id: int, unwanted: str = "") -> None:
    address = f"{user_id}@example.org"
    session.add(EmailAddress(user_id=user_id, address=address, language="en", unwanted=unwanted))
    session.flush()


def named(session: Session, name: str) -> int:
    return session.scalars(select(User.id).where(User.name == name)).one()


def ask(session: Session, user_id: int, text: str = "Do ties count?", *, run_: str | None = None) -> int:
    """The number of a new question."""
    client_id = f"q{session.scalar(select(func.count(Question.id)))}"
    team_questions.ask(session, SLUG, user_id, text, client_id=client_id, asked_at=NOW, run=run_)
    session.flush()
    return session.scalars(select(func.max(Question.id))).one()


def answer(
    session: Session, number: int, text: str = "They do.", *, public: bool | None = None, seen: str | None = None
) -> None:
    questions.answer(session, SLUG, number, text, answered_by_id=None, answered_at=LATER, public=public, seen=seen)


def seen_by(session: Session, name: str) -> list[tuple[str | None, str, str]]:
    rows = team_questions.team_questions(session, SLUG, named(session, name))
    return [(row.run, row.text, row.answer) for row in rows]


def mails(session: Session) -> list[tuple[int | None, str]]:
    session.flush()
    rows = session.scalars(select(Mail).where(Mail.kind == MailKind.ANSWER).order_by(Mail.id))
    return [(row.user_id, row.content["about"]) for row in rows]


def sent(session: Session, at: datetime = LATER) -> list[int | None]:
    """The recipients of what is sent now."""
    session.flush()
    found = []
    while (due := take_true_mail(session, now=at, kinds=["answers"], per_hour=99)) is not None:
        record_sent(session, due, at=at)
        found.append(due.user_id)
    return found


def test_a_team_sees_its_questions_and_private_answers_and_no_other_team_does(session: Session, pat: int) -> None:
    number = ask(session, pat, run_="alpha")
    assert [(row.team, row.run, row.judge) for row in questions.list_questions(session, SLUG)] == [
        ("red", "alpha", "pat")
    ]
    assert waiting(session, SLUG).questions == 1
    answer(session, number)
    assert waiting(session, SLUG).questions == 0
    assert seen_by(session, "sam") == [("alpha", "Do ties count?", "They do.")]
    assert seen_by(session, "tom") == []
    assert announcements.list_announcements(session, SLUG, participates=True) == []


def test_a_public_answer_is_shown_without_who_asked_until_it_is_private_again(session: Session, pat: int) -> None:
    number = ask(session, pat, run_="alpha")
    answer(session, number, public=True)
    [row] = announcements.list_announcements(session, SLUG, participates=True)
    assert (row.question, row.text) == ("Do ties count?", "They do.")
    assert not {"pat", "red", "alpha"} & {str(value) for value in vars(row).values()}
    assert announcements.list_announcements(session, SLUG, participates=False) == []
    answer(session, number, "They do not.")
    [row] = announcements.list_announcements(session, SLUG, participates=True)
    assert (row.text, row.changed_at) == ("They do not.", LATER)
    with pytest.raises(ConflictError, match="is an answer: change it where you answered"):
        announcements.change(session, SLUG, row.id, announcements.NewAnnouncement("a", "b"), changed_at=LATER)
    answer(session, number, "They do not.", public=False)
    assert announcements.list_announcements(session, SLUG, participates=True) == []
    assert seen_by(session, "pat") == [("alpha", "Do ties count?", "They do not.")]


def test_an_answer_is_new_to_the_person_who_asked_alone_until_they_read_it(session: Session, pat: int) -> None:
    answer(session, ask(session, pat))
    sam = named(session, "sam")
    assert team_questions.count_new_answers(session, SLUG, pat) == 1
    assert team_questions.count_new_answers(session, SLUG, sam) == 0
    team_questions.read_answers(session, SLUG, sam, read_at=LATER)
    assert team_questions.count_new_answers(session, SLUG, pat) == 1
    team_questions.read_answers(session, SLUG, pat, read_at=LATER)
    assert team_questions.count_new_answers(session, SLUG, pat) == 0


def test_a_question_that_does_not_fit_is_refused(session: Session, pat: int) -> None:
    with pytest.raises(InvalidValueError, match="cannot be empty"):
        ask(session, pat, " \n")
    with pytest.raises(InvalidValueError, match="too long"):
        ask(session, pat, "a" * 10_001)
    with pytest.raises(InvalidValueError, match="cannot be stored"):
        ask(session, pat, "a\0b")
    with pytest.raises(NotFoundError, match="There is no run “beta”"):
        ask(session, pat, run_="beta")
    with pytest.raises(NotFoundError, match="You belong to no team"):
        ask(session, member(session, "jo"))
    assert questions.list_questions(session, SLUG) == []


def test_a_question_sent_twice_is_stored_once(session: Session, pat: int) -> None:
    for _ in range(2):
        team_questions.ask(session, SLUG, pat, "Again?", client_id="same", asked_at=NOW)
    assert len(questions.list_questions(session, SLUG)) == 1
    with pytest.raises(ConflictError, match="belongs to another question"):
        team_questions.ask(session, SLUG, named(session, "tom"), "Mine?", client_id="same", asked_at=NOW)


def test_nobody_asks_too_many_questions_within_an_hour(session: Session, pat: int) -> None:
    for _ in range(MOST_QUESTIONS):
        ask(session, pat)
    with pytest.raises(ConflictError, match="within an hour"):
        ask(session, pat)
    ask(session, named(session, "sam"))
    team_questions.ask(session, SLUG, pat, "Now?", client_id="later", asked_at=NOW + WINDOW)


def test_a_closed_collection_takes_no_questions_and_still_gives_answers(session: Session, pat: int) -> None:
    number = ask(session, pat)
    collection.close_collection(session, SLUG)
    with pytest.raises(ConflictError, match="closed"):
        ask(session, pat)
    answer(session, number, public=True)
    assert seen_by(session, "pat") == [(None, "Do ties count?", "They do.")]


def test_after_a_change_of_team_neither_the_questions_nor_the_e_mail_of_the_former_team_follow(
    session: Session, pat: int
) -> None:
    answer(session, ask(session, pat, run_="alpha"))
    assert mails(session) == [(pat, "team-answer")]
    session.execute(
        update(Membership)
        .where(Membership.user_id == pat)
        .values(team_id=find_or_add_team(session, session.scalars(select(Collection.id)).one(), "blue").id)
    )
    assert seen_by(session, "pat") == []
    assert seen_by(session, "sam") == [("alpha", "Do ties count?", "They do.")]
    assert team_questions.count_new_answers(session, SLUG, pat) == 0
    assert sent(session) == []


def test_no_e_mail_is_sent_once_the_membership_has_ended_or_the_collection_is_deleted(
    session: Session, pat: int
) -> None:
    answer(session, ask(session, pat))
    session.execute(delete(Membership).where(Membership.user_id == pat))
    assert sent(session) == []
    with pytest.raises(NotFoundError, match="You belong to no team"):
        seen_by(session, "pat")
    sam = named(session, "sam")
    with_address(session, sam)
    answer(session, ask(session, sam))
    session.execute(update(Collection).values(deleted_at=LATER))
    assert sent(session) == []


def test_one_e_mail_is_sent_until_the_answer_is_read(session: Session, pat: int) -> None:
    number = ask(session, pat)
    answer(session, number)
    answer(session, number, "They do, I think.")
    assert mails(session) == [(pat, "team-answer")]
    team_questions.read_answers(session, SLUG, pat, read_at=LATER)
    answer(session, number, "They do not.")
    assert mails(session) == [(pat, "team-answer")] * 2
    assert sent(session) == [pat, pat]


def test_a_public_answer_is_sent_once_to_the_other_participants_who_want_it(session: Session, pat: int) -> None:
    sam, tom = named(session, "sam"), named(session, "tom")
    with_address(session, sam, unwanted="answers")
    with_address(session, tom)
    with_address(session, member(session, "jo"))
    number = ask(session, pat)
    answer(session, number, public=True)
    answer(session, number, "They do, I think.")
    assert mails(session) == [(pat, "team-answer"), (tom, "public-answer")]
    assert sent(session) == [pat, tom]
    answer(session, number, "They do, I think.", public=False)
    answer(session, number, "They do, I think.", public=True)
    answer(session, number, "They do, I think.", public=False)
    # Queued again, and withdrawn before it was sent.
    assert sent(session, LATER + timedelta(minutes=9)) == []


def test_an_answer_that_is_public_again_is_sent_to_those_alone_who_were_not_sent_it(session: Session, pat: int) -> None:
    sam, tom = named(session, "sam"), named(session, "tom")
    with_address(session, tom)
    number = ask(session, pat)
    answer(session, number, public=True)
    assert sent(session) == [pat, tom]
    with_address(session, sam)
    for public in (False, True):
        answer(session, number, public=public)
    # Made private and public again before it was sent to sam.
    for public in (False, True):
        answer(session, number, public=public)
    assert sent(session) == [sam]
    answer(session, number, public=False)
    answer(session, number, "They do not.", public=True)
    assert set(sent(session)) == {sam, tom}


def test_an_answer_that_goes_back_to_an_earlier_text_is_sent_once_more(session: Session, pat: int) -> None:
    tom = named(session, "tom")
    with_address(session, tom)
    number = ask(session, pat)
    for day, text in enumerate(["Yes.", "No.", "Yes."]):
        answer(session, number, text, public=True)
        assert tom in sent(session, LATER + timedelta(days=day))
        answer(session, number, text, public=False)
    # What was withdrawn before it was sent is not the last that was sent.
    answer(session, number, "No.", public=True)
    answer(session, number, "No.", public=False)
    answer(session, number, "Yes.", public=True)
    assert sent(session, LATER + timedelta(days=4)) == []


def test_an_answer_that_is_being_sent_is_not_given_up_or_queued_again(session: Session, pat: int) -> None:
    tom = named(session, "tom")
    with_address(session, tom)
    number = ask(session, pat)
    answer(session, number, public=True)
    first, due = (take_true_mail(session, now=LATER, kinds=["answers"], per_hour=99) for _ in range(2))
    assert first is not None
    assert due is not None
    assert (first.user_id, due.user_id) == (pat, tom)
    record_sent(session, first, at=LATER)
    for public in (False, True):
        answer(session, number, public=public)
    assert sent(session, LATER + timedelta(seconds=1)) == []
    record_sent(session, due, at=LATER)
    row = session.get_one(Mail, due.id, populate_existing=True)
    assert (row.sent_at, row.problem) == (LATER, "")


def test_an_answer_is_sent_although_an_earlier_question_had_its_id(session: Session, pat: int) -> None:
    tom = named(session, "tom")
    with_address(session, tom)
    number = ask(session, pat)
    answer(session, number, public=True)
    assert tom in sent(session)
    # As after the removal of a collection: SQLite gives the id to the next question.
    answer(session, number, public=False)
    session.execute(delete(Question))
    session.flush()
    session.expire_all()
    team_questions.ask(session, SLUG, pat, "Do ties count?", client_id="other", asked_at=NOW)
    session.flush()
    session.execute(update(Question).values(id=number))
    session.expire_all()
    answer(session, number, public=True)
    assert tom in sent(session, LATER + timedelta(minutes=9))


def test_a_judge_gets_an_e_mail_about_the_answer_too(session: Session, pat: int) -> None:
    jo = member(session, "jo")
    with_address(session, jo)
    questions.ask(session, SLUG, jo, "Do kittens count?", client_id="j", asked_at=NOW, topic="1")
    session.flush()
    answer(session, session.scalars(select(func.max(Question.id))).one(), public=True)
    assert mails(session) == [(jo, "judge-answer")]
    assert sent(session) == [jo]
    assert team_questions.team_questions(session, SLUG, pat) == []


def test_a_person_who_judges_and_takes_part_keeps_both_kinds_of_questions_apart(session: Session, pat: int) -> None:
    session.add(
        Membership(
            collection_id=session.scalars(select(Collection.id)).one(), user_id=pat, role=Role.JUDGE, added_at=NOW
        )
    )
    answer(session, ask(session, pat))
    assert questions.own_questions(session, SLUG, pat) == []
    assert questions.count_new_answers(session, SLUG, pat) == 0
    questions.read_answers(session, SLUG, pat, read_at=LATER)
    assert team_questions.count_new_answers(session, SLUG, pat) == 1
    judge = find_judge(session, SLUG, pat, 0, "", Role.JUDGE)
    assert judge is not None
    assert judge.answers == 0


def test_a_page_opened_before_changes_no_answer_of_another_organiser(session: Session, pat: int) -> None:
    number = ask(session, pat)
    [opened] = questions.list_questions(session, SLUG)
    answer(session, number, public=True)
    for text, public in (("No.", True), ("They do.", False)):
        with pytest.raises(ConflictError, match="has changed since you opened the page"):
            answer(session, number, text, public=public, seen=opened.version)
    # The same once more, as by a double click, changes nothing.
    answer(session, number, public=True, seen=opened.version)
    [shown] = questions.list_questions(session, SLUG)
    assert (shown.answer, shown.is_public) == ("They do.", True)
    answer(session, number, "No.", public=True, seen=shown.version)
    assert questions.list_questions(session, SLUG)[0].answer == "No."


def test_an_id_of_a_question_for_a_team_is_of_no_other_question(session: Session, pat: int) -> None:
    team_questions.ask(session, SLUG, pat, "Do ties count?", client_id="x", asked_at=NOW)
    member(session, "pat", Role.JUDGE)
    with pytest.raises(ConflictError, match="belongs to another question"):
        questions.ask(session, SLUG, pat, "What is relevant?", client_id="x", asked_at=NOW)
    blue = find_or_add_team(session, session.scalars(select(Collection.id)).one(), "blue").id
    session.execute(update(Membership).where(Membership.user_id == pat).values(team_id=blue))
    with pytest.raises(ConflictError, match="belongs to another question"):
        team_questions.ask(session, SLUG, pat, "Do ties count?", client_id="x", asked_at=NOW)


def test_who_switches_answers_off_gets_none_that_wait(session: Session, pat: int) -> None:
    answer(session, ask(session, pat))
    assert mails(session) == [(pat, "team-answer")]
    choose_mail(session, pat, language="en", wanted=[])
    assert sent(session) == []


def test_the_questions_of_an_erased_person_stay_with_their_team_under_a_pseudonym(session: Session, pat: int) -> None:
    answer(session, ask(session, pat))
    pseudonym = forget_user(session, "pat")
    assert mails(session) == []
    assert [row.judge for row in questions.list_questions(session, SLUG)] == [pseudonym]
    rows = team_questions.team_questions(session, SLUG, named(session, "sam"))
    assert [(row.asked_by, row.answer) for row in rows] == [(pseudonym, "They do.")]
