"""The questionnaire about runs: asked, answered with runs and later, changed after answers came in, exported."""

import csv
import io
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest
from build import NOW, SLUG, document_file, labels, member, news, pool, run_text, topic_file
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotAllowedError, NotFoundError
from annotator.evaluation.runs.questionnaires import AnswerKind, RunQuestion, as_plain
from annotator.evaluation.runs.run_tags import Sender
from annotator.files import InputFile
from annotator.storage import Database, Role, RunAnswer, User
from annotator.storage.collections.audit import Actor
from annotator.storage.runs.runs import RunDetails
from annotator.storage.tables.collections import Door
from annotator.storage.tables.runs import QuestionnaireVersion
from annotator.workflows.collections import rounds
from annotator.workflows.collections.next_collection import copy_collection
from annotator.workflows.people.erasure import forget_user
from annotator.workflows.qrels import qrels, qrels_versions
from annotator.workflows.runs import questionnaires, runs, submissions
from annotator.workflows.runs.questionnaires import SEEN_NOTHING, Seen
from annotator.workflows.runs.run_upload import Submission, upload
from annotator.workflows.runs.submissions import Deadline, SubmissionChange

LATER = NOW + timedelta(days=1)
TRAINED = RunQuestion("trained", "Was it trained on these topics?", AnswerKind.YES_NO, required=True)
MODEL = RunQuestion("model", "Which model?", AnswerKind.CHOICE, choices=("BM25", "dense"))
CONTACT = RunQuestion("contact", "Whom do we ask?", AnswerKind.EMAIL)
REWORDED = replace(TRAINED, text="Was it trained on these or similar topics?")
ANSWERS = {"trained": "no", "model": "BM25", "contact": "pat@example.org"}


@pytest.fixture(autouse=True)
def _collection(database: Database) -> None:
    """Two teams, topics, and a questionnaire."""
    with database.transaction() as session:
        news(session)
        topic_file(session)
        document_file(session, ["a", "b"])
        member(session, "pat", Role.PARTICIPANT, team="red")
        member(session, "kim", Role.PARTICIPANT, team="blue")
        member(session, "ola", Role.ORGANISER)
        ask(session, TRAINED, MODEL, CONTACT)


def ask(session: Session, *questions: RunQuestion, after: int | None = None) -> int:
    return questionnaires.set_questionnaire(session, SLUG, questions, made_by_id=None, at=NOW, after=after).number


def send(
    database: Database,
    answers: Mapping[str, object],
    *,
    tag: str = "alpha",
    first: str = "a",
    by: str = "pat",
    replaces: bool = False,
    version: int | None = None,
) -> None:
    with database.reading() as session:
        user_id = session.scalars(select(User.id).where(User.name == by)).one()
    team = {"pat": "red", "kim": "blue"}.get(by)
    sender = Sender(team, organises=team is None, replaces=replaces)
    upload(
        database,
        SLUG,
        [InputFile(f"{tag}.txt", run_text(tag, {"1": [first], "2": ["b"]}))],
        Submission(sender, RunDetails(team), answers=answers, asked=version),
        actor=Actor(Door.API, by, user_id),
        at=NOW,
        noted_at=NOW,
        unpacked_limit=1 << 20,
    )


def found(database: Database, tag: str = "alpha", team: str | None = None) -> questionnaires.RunAnswers:
    return database.read(questionnaires.show_answers, SLUG, tag, team=team)


def found_questions(database: Database) -> tuple[RunQuestion, ...]:
    return database.read(questionnaires.show_questionnaire, SLUG).questions


def change(
    database: Database,
    given: Mapping[str, object],
    tag: str = "alpha",
    by: str | None = None,
    seen: Seen = SEEN_NOTHING,
) -> list[str]:
    with database.transaction() as session:
        by_id = session.scalars(select(User.id).where(User.name == by)).one() if by else None
        team = {"pat": "red", "kim": "blue", "zoe": "red"}.get(by or "")
        return questionnaires.change_answers(session, SLUG, tag, given, at=LATER, by_id=by_id, team=team, seen=seen)


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_run_is_answered_for_when_it_is_sent(database: Database) -> None:
    send(database, ANSWERS)
    assert (found(database).answers, found(database).missing) == (ANSWERS, ())
    assert {one.answered_by for one in found(database).kept} == {"pat"}


@pytest.mark.parametrize(
    ("answers", "wrong"),
    [
        ({}, "needs an answer to “trained”"),
        ({"trained": " "}, "needs an answer to “trained”"),
        ({"trained": "perhaps"}, "“trained” is yes or no"),
        ({"trained": "no", "colour": "red"}, "no question “colour”"),
    ],
)
@pytest.mark.parametrize("replaces", [True, False])
def test_a_team_that_does_not_answer_stores_nothing(
    database: Database, answers: dict[str, object], wrong: str, *, replaces: bool
) -> None:
    with pytest.raises(InvalidValueError, match=wrong):
        send(database, answers, replaces=replaces)
    assert database.read(runs.list_runs, SLUG) == []


def test_organisers_need_not_answer(database: Database) -> None:
    send(database, {}, by="ola")
    assert (found(database).answers, found(database).missing) == ({}, ("trained",))
    assert change(database, {"model": "dense"}) == ["model"]
    assert found(database).answers == {"model": "dense"}


def test_a_corrected_run_keeps_the_answers_that_are_not_given_again(database: Database) -> None:
    send(database, ANSWERS)
    send(database, {"model": "dense", "contact": ""}, first="b", replaces=True)
    assert found(database).run.version == 2
    assert found(database).answers == ANSWERS | {"model": "dense"}


def test_answers_are_changed_until_the_deadline(database: Database) -> None:
    send(database, ANSWERS)
    assert change(database, {"model": "dense", "contact": ""}, by="pat") == ["contact", "model"]
    assert found(database).answers == {"trained": "no", "model": "dense"}
    with pytest.raises(InvalidValueError, match="needs an answer to “trained”"):
        change(database, {"trained": ""}, by="pat")
    with database.transaction() as session:
        submissions.change_submissions(session, SLUG, SubmissionChange(deadline=Deadline(LATER)))
    with pytest.raises(ConflictError, match="deadline has passed"):
        change(database, {"model": "BM25"}, by="pat")
    change(database, {"model": "BM25"})
    assert found(database).answers["model"] == "BM25"


def test_a_team_answers_for_its_own_runs_only(database: Database) -> None:
    send(database, ANSWERS)
    with pytest.raises(NotFoundError, match="no run “alpha”"):
        change(database, {"model": "dense"}, by="kim")
    with pytest.raises(NotFoundError, match="no run “alpha”"):
        found(database, team="blue")
    with database.transaction() as session:
        kim = session.scalars(select(User.id).where(User.name == "kim")).one()
        with pytest.raises(NotAllowedError, match="not in the team red any more"):
            questionnaires.change_answers(session, SLUG, "alpha", {}, at=NOW, by_id=kim, team="red")
    assert [one.run.tag for one in database.read(questionnaires.list_answers, SLUG, team="red")] == ["alpha"]
    assert database.read(questionnaires.list_answers, SLUG, team="blue") == []


def test_a_question_that_is_reworded_must_be_answered_again_and_its_answer_is_kept(database: Database) -> None:
    send(database, ANSWERS)
    with database.transaction() as session:
        assert ask(session, REWORDED, MODEL) == 2
    again = found(database)
    assert (again.answers, again.missing) == ({"model": "BM25"}, ("trained",))
    assert again.suggested == {"model": "BM25", "trained": "no"}
    assert {(one.question.text, one.answer, one.counts) for one in again.kept} == {
        ("Was it trained on these topics?", "no", False),
        ("Which model?", "BM25", True),
        ("Whom do we ask?", "pat@example.org", False),
    }
    change(database, {"trained": "yes"}, by="pat")
    after = found(database)
    assert (after.answers, after.missing) == ({"model": "BM25", "trained": "yes"}, ())
    assert ("Was it trained on these topics?", "no") in {(one.question.text, one.answer) for one in after.kept}


def test_an_answer_to_the_newest_version_takes_an_earlier_one_back(database: Database) -> None:
    send(database, ANSWERS)
    with database.transaction() as session:
        ask(session, replace(TRAINED, required=False), MODEL)
    assert found(database).answers == {"trained": "no", "model": "BM25"}
    change(database, {"trained": "", "model": ""})
    assert found(database).answers == {}
    assert len(found(database).kept) == 3


def test_a_question_asked_later_is_missing_and_one_no_longer_asked_is_not(database: Database) -> None:
    send(database, ANSWERS)
    with database.transaction() as session:
        ask(session, RunQuestion("new", "What is new?", required=True))
    assert found(database).missing == ("new",)
    with database.transaction() as session:
        ask(session)
    assert (found(database).missing, len(found(database).kept)) == ((), 3)


def next_round(session: Session) -> None:
    pool(session)
    labels(session, "jo", "1 0 a 1\n2 0 b 1\n")
    made = qrels.export_qrels(session, SLUG, made_at=NOW)
    version = qrels_versions.keep_qrels(session, SLUG, made, made_by_id=None, made_at=NOW)
    rounds.close_round(session, SLUG, version=version, at=NOW)
    rounds.open_round(session, SLUG, at=NOW)


def test_runs_of_a_closed_round_are_not_asked_again(database: Database) -> None:
    send(database, ANSWERS)
    with database.transaction() as session:
        next_round(session)
        ask(session, REWORDED)
    assert found(database).missing == ()
    assert (found(database).is_excused, found(database).is_asked_again) == (True, False)
    send(database, {"trained": "yes"}, tag="beta")
    assert found(database, "beta").answers == {"trained": "yes"}
    rows = table(database.read(questionnaires.answers_csv, SLUG))
    assert [(row["run"], row["complete"]) for row in rows] == [("alpha", "round closed"), ("beta", "yes")]


def test_a_team_does_not_change_answers_of_a_closed_round_and_organisers_need_not_fill_it_up(
    database: Database,
) -> None:
    send(database, ANSWERS)
    with database.transaction() as session:
        next_round(session)
        ask(session, REWORDED, MODEL)
    with pytest.raises(ConflictError, match="The round of the run “alpha” is closed: its answers stay"):
        change(database, {"model": "dense"}, by="pat")
    assert change(database, {"model": "dense"}) == ["model"]
    assert (found(database).answers, found(database).missing) == ({"model": "dense"}, ())


def test_the_same_questions_again_are_no_change(database: Database) -> None:
    with database.transaction() as session:
        assert ask(session, TRAINED, MODEL, CONTACT) == 1
        with pytest.raises(ConflictError, match="has changed since you opened its page"):
            ask(session, TRAINED, after=0)
        assert ask(session, TRAINED, after=1) == 2
        with pytest.raises(InvalidValueError, match="its key"):
            ask(session, RunQuestion("Not a key", "?"))


def test_nothing_is_answered_where_nothing_was_asked(database: Database) -> None:
    with database.transaction() as session:
        news(session, "other")
        assert questionnaires.show_questionnaire(session, "other").number == 0
        assert questionnaires.answers_csv(session, "other").splitlines() == ['"run","team","file","complete"']


def test_answers_are_exported_by_question_and_all_that_are_kept(database: Database) -> None:
    send(database, ANSWERS)
    send(database, {"trained": "yes"}, tag="beta", by="kim")
    with database.transaction() as session:
        ask(session, REWORDED, MODEL)
    assert table(database.read(questionnaires.answers_csv, SLUG)) == [
        {"run": "alpha", "team": "red", "file": "1", "complete": "no", "trained": "", "model": "BM25"},
        {"run": "beta", "team": "blue", "file": "1", "complete": "no", "trained": "", "model": ""},
    ]
    every = table(database.read(questionnaires.every_answer_csv, SLUG))
    assert [(row["run"], row["key"], row["answer"], row["questionnaire"], row["asked now"]) for row in every] == [
        ("alpha", "contact", "pat@example.org", "1", "no"),
        ("alpha", "model", "BM25", "1", "yes"),
        ("alpha", "trained", "no", "1", "no"),
        ("beta", "trained", "yes", "1", "no"),
    ]


def test_the_next_collection_asks_the_same(database: Database) -> None:
    with database.transaction() as session:
        copy_collection(session, SLUG, "next", title=None, with_documents=False, at=NOW)
        assert questionnaires.show_questionnaire(session, "next").questions == (TRAINED, MODEL, CONTACT)


def test_the_addresses_that_a_person_gave_are_deleted_with_the_account(database: Database) -> None:
    send(database, ANSWERS)
    send(database, {"trained": "yes", "contact": "kim@example.org"}, tag="beta", by="kim")
    with database.transaction() as session:
        forget_user(session, "pat")
        assert session.scalars(select(RunAnswer.answer).where(RunAnswer.kind == AnswerKind.EMAIL)).all() == [
            "kim@example.org"
        ]
    assert found(database).answers == {"trained": "no", "model": "BM25"}


def test_an_address_is_deleted_with_the_account_that_gave_it_where_a_colleague_answered_since(
    database: Database,
) -> None:
    with database.transaction() as session:
        member(session, "zoe", Role.PARTICIPANT, team="red")
    send(database, ANSWERS)
    with database.transaction() as session:
        ask(session, TRAINED, MODEL, CONTACT, RunQuestion("more", "What else?"))
    change(database, {"more": "nothing"}, by="zoe")
    given = {(one.question.key, one.version): one.answered_by for one in found(database).kept}
    assert (given["contact", 2], given["trained", 2], given["more", 2]) == ("pat", "pat", "zoe")
    with database.transaction() as session:
        forget_user(session, "pat")
        assert session.scalars(select(RunAnswer.answer).where(RunAnswer.kind == AnswerKind.EMAIL)).all() == []
    assert found(database).answers == {"trained": "no", "model": "BM25", "more": "nothing"}


def test_an_address_that_was_taken_back_does_not_return_with_the_account(database: Database) -> None:
    send(database, ANSWERS, by="ola")
    with database.transaction() as session:
        ask(session, CONTACT)
    with database.transaction() as session:
        ola = session.scalars(select(User.id).where(User.name == "ola")).one()
        questionnaires.change_answers(session, SLUG, "alpha", {"contact": ""}, at=LATER, by_id=ola)
    with database.transaction() as session:
        member(session, "ada", Role.ORGANISER)
        forget_user(session, "ola")
    assert (found(database).answers, dict(found(database).suggested)) == ({}, {})


def test_an_answer_that_was_taken_back_is_not_suggested_again(database: Database) -> None:
    send(database, ANSWERS)
    with database.transaction() as session:
        ask(session, TRAINED, MODEL, CONTACT, RunQuestion("more", "What else?"))
    assert found(database).suggested == ANSWERS
    change(database, {"contact": "", "more": "nothing"}, by="pat")
    assert found(database).suggested == {"trained": "no", "model": "BM25", "more": "nothing"}


def test_answers_to_another_version_than_the_newest_are_refused_before_anything_is_stored(database: Database) -> None:
    send(database, ANSWERS, version=1)
    with database.transaction() as session:
        ask(session, replace(TRAINED, text="Was it NOT trained on these topics?"), MODEL)
    with pytest.raises(ConflictError, match=r"has changed since you opened it\. Nothing was stored"):
        send(database, {"trained": "no"}, tag="beta", version=1)
    with pytest.raises(ConflictError, match=r"has changed since you opened it\. Nothing was stored"):
        change(database, {"trained": "no"}, by="pat", seen=Seen(1))
    assert [run.tag for run in database.read(runs.list_runs, SLUG)] == ["alpha"]
    assert found(database).answers == {"model": "BM25"}
    change(database, {"trained": "yes"}, by="pat", seen=Seen(2))
    assert found(database).answers == {"trained": "yes", "model": "BM25"}


def test_the_version_is_compared_again_where_the_run_is_stored(database: Database) -> None:
    with database.transaction() as session:
        ask(session, REWORDED)
        with pytest.raises(ConflictError, match="Nothing was stored"):
            questionnaires.answer_with_runs(session, SLUG, {}, {}, by_id=None, at=NOW, requires=True, version=1)


def test_answers_that_were_changed_since_they_were_seen_are_not_overwritten(database: Database) -> None:
    send(database, ANSWERS)
    before = found(database).fingerprint
    change(database, {"model": "dense"}, seen=Seen(1, before))
    with pytest.raises(ConflictError, match="Somebody else has changed these answers"):
        change(database, {"model": "BM25"}, by="pat", seen=Seen(1, before))
    assert found(database).answers["model"] == "dense"
    send(database, {}, tag="beta", by="ola")
    assert found(database, "beta").fingerprint == ""
    change(database, {"model": "dense"}, tag="beta", seen=Seen(1, ""))


def test_a_key_that_the_table_of_answers_has_already_is_refused_and_one_that_was_stored_is_shown(
    database: Database,
) -> None:
    with database.transaction() as session:
        for key in ("run", "team", "file", "complete"):
            with pytest.raises(InvalidValueError, match=f"Question 2: the table of answers has another column “{key}”"):
                ask(session, TRAINED, RunQuestion(key, "Which one?"))
        session.execute(update(QuestionnaireVersion).values(questions=as_plain([RunQuestion("team", "Which one?")])))
    assert [one.key for one in found_questions(database)] == ["team"]


def test_an_answer_without_its_question_is_still_shown(database: Database) -> None:
    send(database, ANSWERS)
    with database.transaction() as session:
        session.execute(update(RunAnswer).where(RunAnswer.question == "model").values(question="lost"))
    assert [one.question.text for one in found(database).kept if one.question.key == "lost"] == ["lost"]
