"""What judges write beside a topic, what they accept before they judge, and who may see it."""

import json
from datetime import timedelta

import pytest
from build import NOW, SLUG, labels, member, news, pooled_news, topic_file
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotAllowedError, NotFoundError
from annotator.storage import Preparation, Role
from annotator.storage.collections.collection import find_collection
from annotator.storage.judging.judge_desk import NoteRow, may_judge
from annotator.workflows.collections import collection
from annotator.workflows.judging import judge_desk
from annotator.workflows.judging.judge_desk import LONGEST_MARK, LONGEST_NOTE, MOST_MARKS, Desk
from annotator.workflows.qrels import qrels
from annotator.workflows.topics import topic_editing
from annotator.workflows.topics.topic_editing import TopicWords

LATER = NOW + timedelta(hours=1)


def put_in_force(session: Session, text: str) -> int:
    return collection.set_guidelines(session, SLUG, text, made_by_id=None, made_at=NOW)


def preparation(session: Session, judge_id: int) -> Preparation | None:
    return may_judge(session, find_collection(session, SLUG), judge_id)


# Guidelines


def test_without_guidelines_and_training_a_judge_may_judge_at_once(session: Session) -> None:
    news(session)
    assert preparation(session, member(session, "jo")) is None


def test_guidelines_are_accepted_once_and_again_when_they_change(session: Session) -> None:
    news(session)
    jo, kim = member(session, "jo"), member(session, "kim")
    first = put_in_force(session, "Be fair.")
    assert preparation(session, jo) == Preparation.GUIDELINES
    collection.accept_guidelines(session, SLUG, jo, first)
    collection.accept_guidelines(session, SLUG, jo, first)
    assert (preparation(session, jo), preparation(session, kim)) == (None, Preparation.GUIDELINES)
    second = put_in_force(session, "Be fair and quick.")
    assert preparation(session, jo) == Preparation.GUIDELINES
    assert [(row.judge, row.number) for row in collection.list_acceptances(session, SLUG)] == [("jo", 1), ("kim", None)]
    collection.accept_guidelines(session, SLUG, jo, second)
    assert preparation(session, jo) is None
    assert collection.accepted_guidelines(session, SLUG, jo) == 2


def test_what_is_not_in_force_any_more_cannot_be_accepted(session: Session) -> None:
    news(session)
    jo = member(session, "jo")
    first = put_in_force(session, "Be fair.")
    put_in_force(session, "Be fair and quick.")
    with pytest.raises(ConflictError, match="have changed since"):
        collection.accept_guidelines(session, SLUG, jo, first)
    assert collection.accepted_guidelines(session, SLUG, jo) is None


def test_only_judges_accept_and_in_one_collection_only(session: Session) -> None:
    news(session)
    news(session, "other")
    jo = member(session, "jo")
    ola = member(session, "ola", Role.ORGANISER)
    member(session, "jo", slug="other")
    number = put_in_force(session, "Be fair.")
    collection.set_guidelines(session, "other", "Be quick.", made_by_id=None, made_at=NOW)
    with pytest.raises(NotAllowedError):
        collection.accept_guidelines(session, SLUG, ola, number)
    collection.accept_guidelines(session, SLUG, jo, number)
    assert may_judge(session, find_collection(session, "other"), jo) == Preparation.GUIDELINES


# Notes and marks


def test_a_note_is_kept_for_one_judge_and_one_topic_and_for_the_organisers(session: Session) -> None:
    news(session)
    topic_file(session)
    jo, kim = member(session, "jo"), member(session, "kim")
    judge_desk.save_note(session, SLUG, "1", jo, "Cats only.", changed_at=NOW)
    judge_desk.save_note(session, SLUG, "1", kim, "Dogs too.", changed_at=NOW)
    assert judge_desk.show_desk(session, SLUG, "1", jo) == Desk("1", "first topic", None, "Cats only.", ())
    assert judge_desk.show_desk(session, SLUG, "2", jo).note == ""
    judge_desk.save_note(session, SLUG, "1", jo, "Cats only.", changed_at=LATER)  # the same: nothing has changed
    judge_desk.save_note(session, SLUG, "1", kim, "Dogs as well.", changed_at=LATER)
    assert judge_desk.list_notes(session, SLUG) == [
        NoteRow("1", "first topic", "jo", "Cats only.", NOW),
        NoteRow("1", "first topic", "kim", "Dogs as well.", LATER),
    ]
    judge_desk.save_note(session, SLUG, "1", jo, " \n", changed_at=LATER)
    assert [row.judge for row in judge_desk.list_notes(session, SLUG)] == ["kim"]


def test_marks_stay_in_their_order_without_blanks_and_repetitions(session: Session) -> None:
    news(session)
    topic_file(session)
    jo, kim = member(session, "jo"), member(session, "kim")
    judge_desk.save_marks(session, SLUG, "1", jo, ["  wild   cat ", "Lion", "", "LION", "호랑이"])
    judge_desk.save_marks(session, SLUG, "1", kim, ["dog"])
    assert judge_desk.show_desk(session, SLUG, "1", jo).marks == ("wild cat", "Lion", "호랑이")
    judge_desk.save_marks(session, SLUG, "1", jo, ["lion"])
    assert judge_desk.show_desk(session, SLUG, "1", jo).marks == ("lion",)
    judge_desk.save_marks(session, SLUG, "1", jo, [])
    assert judge_desk.show_desk(session, SLUG, "1", jo).marks == ()
    assert judge_desk.show_desk(session, SLUG, "1", kim).marks == ("dog",)


def test_what_is_too_much_is_refused(session: Session) -> None:
    news(session)
    topic_file(session)
    jo = member(session, "jo")
    with pytest.raises(InvalidValueError, match="too long"):
        judge_desk.save_note(session, SLUG, "1", jo, "x" * (LONGEST_NOTE + 1), changed_at=NOW)
    with pytest.raises(InvalidValueError, match="too long"):
        judge_desk.save_marks(session, SLUG, "1", jo, ["x" * (LONGEST_MARK + 1)])
    with pytest.raises(InvalidValueError, match="At most 50 words can be marked in a topic; these are 51"):
        judge_desk.save_marks(session, SLUG, "1", jo, [f"word{index}" for index in range(MOST_MARKS + 1)])


def test_a_judge_writes_beside_topics_that_they_can_see_while_judging_goes_on(session: Session) -> None:
    news(session)
    topic_file(session)
    jo = member(session, "jo")
    topic_editing.add_draft(session, SLUG, "3", TopicWords("a draft"))
    for number in ("3", "9"):
        with pytest.raises(NotFoundError):
            judge_desk.save_note(session, SLUG, number, jo, "Yes.", changed_at=NOW)
        with pytest.raises(NotFoundError):
            judge_desk.show_desk(session, SLUG, number, jo)
    collection.close_collection(session, SLUG)
    with pytest.raises(ConflictError, match="Judging has ended"):
        judge_desk.save_note(session, SLUG, "1", jo, "Yes.", changed_at=NOW)
    with pytest.raises(ConflictError, match="Judging has ended"):
        judge_desk.save_marks(session, SLUG, "1", jo, ["yes"])


def test_the_manifest_of_the_qrels_has_the_notes_of_those_whose_grades_they_are(session: Session) -> None:
    pooled_news(session, judgements_wanted=2)
    labels(session, "jo", "1 0 a 1\n2 0 a 1\n")
    labels(session, "kim", "1 0 a 1\n", name="k.txt")
    jo, kim = member(session, "jo"), member(session, "kim")
    judge_desk.save_note(session, SLUG, "2", jo, "Cats only.", changed_at=NOW)
    judge_desk.save_note(session, SLUG, "1", kim, "Dogs too.", changed_at=LATER)
    of_jo = {"topic": "2", "judge": "jo", "text": "Cats only.", "changed_at": "2026-03-01T09:00:00+00:00"}
    of_kim = {"topic": "1", "judge": "kim", "text": "Dogs too.", "changed_at": "2026-03-01T10:00:00+00:00"}
    assert notes_in_manifest(session) == [of_kim, of_jo]
    assert notes_in_manifest(session, judge="jo") == [of_jo]
    topic_editing.drop_topics(session, SLUG, ["2"], reason="Too broad.")
    assert notes_in_manifest(session) == [of_kim]


def notes_in_manifest(session: Session, judge: str | None = None) -> list[dict[str, str]]:
    manifest = json.loads(qrels.export_qrels(session, SLUG, judge=judge, made_at=NOW).manifest)
    notes: list[dict[str, str]] = manifest["topic_notes"]
    return notes
