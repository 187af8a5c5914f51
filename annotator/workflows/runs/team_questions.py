"""Questions of participants to the organisers, and the answers: a team sees its own, other teams what is public."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError
from annotator.storage import Announcement, Question, Role, Run, Team, User
from annotator.storage.collections.collection import find_collection, lock_open_collection
from annotator.storage.people.accounts import find_membership
from annotator.storage.runs.sent_runs import find_sent_run
from annotator.workflows.collections.asked_questions import check_question, is_stored

# Anybody may have registered: more questions than this from one person would bury those of others.
MOST_QUESTIONS = 20
WINDOW = timedelta(hours=1)


@dataclass(frozen=True)
class TeamQuestion:
    """A question of a team with its answer, empty until there is one; `run` is None for one about anything."""

    id: int
    client_id: str
    run: str | None
    asked_by: str
    text: str
    asked_at: datetime
    answer: str
    answered_at: datetime | None
    is_public: bool
    # Whether the reader asked it, and has not been shown the answer.
    is_new: bool

    @property
    def is_open(self) -> bool:
        """Whether it has no answer yet."""
        return self.answered_at is None


def ask(
    session: Session,
    slug: str,
    user_id: int,
    text: str,
    *,
    client_id: str,
    asked_at: datetime,
    run: str | None = None,
) -> None:
    """Store a question of a participant about a run of the team, or about anything; a resubmission stores it once.

    Raises `InvalidValueError` for a text that is empty or too long and for an invalid id, `NotFoundError` for a person
    without a team and for a run that is not of the team, and `ConflictError` for a closed collection, an id of another
    question, and after many questions within an hour.
    """
    collection = lock_open_collection(session, slug)
    team = _team_of(session, collection.id, user_id)
    check_question(text)
    run_id = None if run is None else find_sent_run(session, collection.id, run, team=team.name).id
    if is_stored(session, client_id, user_id, collection.id, team_id=team.id):
        return
    recent = select(func.count()).where(
        Question.asked_by_id == user_id, Question.team_id.is_not(None), Question.asked_at > asked_at - WINDOW
    )
    if session.scalars(recent).one() >= MOST_QUESTIONS:
        raise ConflictError(
            "You have asked %(most)d questions within an hour. Wait a while before you ask another.",
            most=MOST_QUESTIONS,
        )
    session.add(
        Question(
            collection_id=collection.id,
            team_id=team.id,
            run_id=run_id,
            asked_by_id=user_id,
            client_id=client_id,
            text=text.strip(),
            asked_at=asked_at,
        )
    )


def team_questions(session: Session, slug: str, user_id: int) -> list[TeamQuestion]:
    """The questions of a participant's present team, newest first; raises `NotFoundError` for anybody else."""
    collection = find_collection(session, slug)
    team = _team_of(session, collection.id, user_id)
    rows = session.execute(
        select(Question, Run.tag, User.name, Announcement.id)
        .join(User, User.id == Question.asked_by_id)
        .outerjoin(Run, Run.id == Question.run_id)
        .outerjoin(Announcement, Announcement.question_id == Question.id)
        .where(Question.collection_id == collection.id, Question.team_id == team.id)
        .order_by(Question.id.desc())
    )
    return [
        TeamQuestion(
            id=asked.id,
            client_id=asked.client_id,
            run=tag,
            asked_by=name,
            text=asked.text,
            asked_at=asked.asked_at,
            answer=asked.answer,
            answered_at=asked.answered_at,
            is_public=public is not None,
            is_new=asked.asked_by_id == user_id and asked.answered_at is not None and asked.read_at is None,
        )
        for asked, tag, name, public in rows
    ]


def count_new_answers(session: Session, slug: str, user_id: int) -> int:
    """The number of answers to a participant's own questions that they have not been shown; 0 without a team."""
    collection_id = find_collection(session, slug).id
    membership = find_membership(session, collection_id, user_id, Role.PARTICIPANT)
    if membership is None:
        return 0
    statement = select(func.count()).where(
        Question.collection_id == collection_id,
        Question.asked_by_id == user_id,
        Question.team_id == membership.team_id,
        Question.answered_at.is_not(None),
        Question.read_at.is_(None),
    )
    return session.scalar(statement) or 0


def read_answers(session: Session, slug: str, user_id: int, *, read_at: datetime) -> None:
    """Remember that a participant was shown the answers to the questions that they asked for their present team."""
    collection = find_collection(session, slug)
    session.execute(
        update(Question)
        .where(
            Question.collection_id == collection.id,
            Question.asked_by_id == user_id,
            Question.team_id == _team_of(session, collection.id, user_id).id,
            Question.answered_at.is_not(None),
            Question.read_at.is_(None),
        )
        .values(read_at=read_at)
    )


def _team_of(session: Session, collection_id: int, user_id: int) -> Team:
    membership = find_membership(session, collection_id, user_id, Role.PARTICIPANT)
    if membership is None or membership.team_id is None:
        raise NotFoundError("You belong to no team in this collection.")
    return session.get_one(Team, membership.team_id)
