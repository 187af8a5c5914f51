"""Public answers and clarifications: shown once to every judge of the topic, without the name of who asked."""

from datetime import timedelta

import pytest
from build import NOW, SLUG, member, news, topic_file
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError, NotFoundError
from annotator.storage import ClarificationSeen, Question, Role
from annotator.workflows.judging import clarifications, questions
from annotator.workflows.judging.judge_access import find_judge

LATER = NOW + timedelta(hours=1)


def asked(session: Session, judge: int, topic: str | None = "1") -> int:
    """The number of a question of this judge."""
    questions.ask(session, SLUG, judge, "Do kittens count?", client_id=f"q{topic}", asked_at=NOW, topic=topic)
    return session.scalars(select(func.max(Question.id))).one()


def answer(session: Session, number: int, text: str = "They do.", *, public: bool | None = None) -> None:
    questions.answer(session, SLUG, number, text, answered_by_id=None, answered_at=LATER, public=public)


def clarify(session: Session, text: str, topic: str = "1") -> int:
    return clarifications.clarify(session, SLUG, topic, text, published_by_id=None, published_at=LATER)


def seen(session: Session, judge: int, *numbers: int, topic: str = "1") -> None:
    clarifications.mark_seen(session, SLUG, topic, judge, numbers, seen_at=LATER)


def shown(session: Session, judge: int, topic: str = "1") -> list[tuple[str | None, str, bool]]:
    rows = clarifications.show_clarifications(session, SLUG, topic, judge)
    return [(row.question, row.text, row.is_new) for row in rows]


@pytest.fixture
def judges(session: Session) -> tuple[int, int]:
    news(session)
    topic_file(session)
    return member(session, "jo"), member(session, "kim")


@pytest.mark.usefixtures("judges")
def test_one_clarification_is_shown_as_in_the_list(session: Session) -> None:
    numbers = [clarify(session, text) for text in ("Kittens count.", "Lions do not.")]
    found = [clarifications.show_clarification(session, SLUG, number) for number in reversed(numbers)]
    assert found == clarifications.list_clarifications(session, SLUG)
    with pytest.raises(NotFoundError, match="There is no clarification 99 in this collection"):
        clarifications.show_clarification(session, SLUG, 99)


def test_a_public_answer_is_shown_once_to_the_other_judges_of_the_topic(
    session: Session, judges: tuple[int, int]
) -> None:
    jo, kim = judges
    number = asked(session, jo)
    answer(session, number)
    assert shown(session, kim) == []
    answer(session, number, public=True)
    assert shown(session, kim) == [("Do kittens count?", "They do.", True)]
    assert shown(session, kim, "2") == []
    # The asker sees it among their questions.
    assert shown(session, jo) == [("Do kittens count?", "They do.", False)]
    assert questions.count_new_answers(session, SLUG, jo) == 1
    [row] = clarifications.show_clarifications(session, SLUG, "1", kim)
    seen(session, kim, row.id)
    seen(session, kim, row.id, 77)
    assert shown(session, kim) == [("Do kittens count?", "They do.", False)]
    assert session.scalars(select(func.count()).select_from(ClarificationSeen)).one() == 2


def test_a_public_answer_that_changes_is_new_again_and_can_become_private(
    session: Session, judges: tuple[int, int]
) -> None:
    jo, kim = judges
    number = asked(session, jo)
    answer(session, number, public=True)
    [row] = clarifications.show_clarifications(session, SLUG, "1", kim)
    seen(session, kim, row.id)
    answer(session, number, public=True)
    assert shown(session, kim) == [("Do kittens count?", "They do.", False)]
    answer(session, number, "They do not.")
    assert shown(session, kim) == [("Do kittens count?", "They do not.", True)]
    assert questions.own_questions(session, SLUG, jo)[0].is_public
    answer(session, number, "They do not.", public=False)
    assert shown(session, kim) == []
    assert not questions.own_questions(session, SLUG, jo)[0].is_public


def test_clarifications_are_listed_newest_first_counted_and_removed(session: Session, judges: tuple[int, int]) -> None:
    jo, kim = judges
    first, second = clarify(session, "Cats count. "), clarify(session, "Lions do not.")
    assert shown(session, kim) == [(None, "Lions do not.", True), (None, "Cats count.", True)]
    seen(session, jo, first, topic="2")
    assert [row[2] for row in shown(session, jo)] == [True, True]
    seen(session, jo, first)
    rows = clarifications.list_clarifications(session, SLUG)
    assert [(row.id, row.topic, row.seen) for row in rows] == [(second, "1", 0), (first, "1", 1)]
    clarifications.remove(session, SLUG, first)
    assert shown(session, jo) == [(None, "Lions do not.", True)]
    with pytest.raises(NotFoundError, match="no clarification"):
        clarifications.remove(session, SLUG, first)


def test_a_judges_browser_learns_the_number_of_the_newest(session: Session, judges: tuple[int, int]) -> None:
    jo, _ = judges
    before = find_judge(session, SLUG, jo, 0, "", Role.JUDGE)
    assert before is not None
    assert before.clarifications == 0
    number = clarify(session, "Cats count.")
    after = find_judge(session, SLUG, jo, 0, "", Role.JUDGE)
    assert after is not None
    assert after.clarifications == number
    clarifications.remove(session, SLUG, number)
    assert clarify(session, "Cats count.") > number


def test_what_cannot_be_published_is_refused(session: Session, judges: tuple[int, int]) -> None:
    number = asked(session, judges[0], None)
    with pytest.raises(InvalidValueError, match="about a topic"):
        answer(session, number, public=True)
    for text in (" ", "x" * 10_001):
        with pytest.raises(InvalidValueError):
            clarify(session, text)
    with pytest.raises(NotFoundError, match="no topic"):
        clarify(session, "So.", "9")
