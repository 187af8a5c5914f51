"""Whether a user may judge or adjudicate in a collection, in one short query: it runs with every judgement."""

from dataclasses import dataclass
from typing import cast

from sqlalchemy import Table, and_, bindparam, exists, func, select
from sqlalchemy.orm import Session

from annotator.errors import NotAllowedError, NotFoundError
from annotator.evaluation.pooling.pool_choice import ADAPTIVE
from annotator.storage import (
    Assignment,
    Clarification,
    Collection,
    EndedSession,
    GuidelineVersion,
    Membership,
    Pool,
    PoolItem,
    Purpose,
    Question,
    Role,
    Topic,
    User,
)


@dataclass(frozen=True)
class JudgeHere:
    """A user who may judge, or adjudicate, in a collection, with the figures their page shows.

    `guidelines` is the current version number, 0 before the first; `answers` counts unread answers to their questions;
    `clarifications` is the number of the newest clarification of the collection, 0 before the first.
    `is_adaptive`: an adaptive strategy may still choose documents.
    """

    id: int
    name: str
    guidelines: int
    answers: int
    clarifications: int
    is_adaptive: bool


def find_judge(
    session: Session, slug: str, user_id: int, generation: int, key: str, role: Role = Role.JUDGE
) -> JudgeHere | None:
    """The judge, or user with the given role, of that account; None when the session has ended.

    Raises `NotAllowedError` for a member without that role, and `NotFoundError` for users who must not learn that the
    collection exists.
    """
    wanted = {"slug": slug, "user_id": user_id, "role": role.value, "key": key}
    row = session.connection().execute(_STATEMENT, wanted).one_or_none()
    if row is None or row.sign_in_generation != generation or row.has_ended:
        return None
    if row.judges is None:
        _refuse(session, slug, row.collection_id, user_id, role)
    return JudgeHere(
        user_id, row.name, row.guidelines or 0, row.answers, row.clarifications or 0, bool(row.is_adaptive)
    )


# Built once and on the tables instead of the mapped classes, which takes a fraction of the time.
USERS = cast("Table", User.__table__).c
COLLECTIONS = cast("Table", Collection.__table__).c
MEMBERSHIPS = cast("Table", Membership.__table__).c
GUIDELINES = cast("Table", GuidelineVersion.__table__).c
QUESTIONS = cast("Table", Question.__table__).c
CLARIFICATIONS = cast("Table", Clarification.__table__).c
POOLS = cast("Table", Pool.__table__).c
ENDED = cast("Table", EndedSession.__table__).c
_IN_FORCE = select(func.max(GUIDELINES.number)).where(GUIDELINES.collection_id == COLLECTIONS.id)
_UNREAD = select(func.count(QUESTIONS.id)).where(
    QUESTIONS.collection_id == COLLECTIONS.id,
    QUESTIONS.asked_by_id == USERS.id,
    QUESTIONS.team_id.is_(None),  # those for their team are answered where participants are
    QUESTIONS.answered_at.is_not(None),
    QUESTIONS.read_at.is_(None),
)
_NEWEST = select(func.max(CLARIFICATIONS.id)).where(CLARIFICATIONS.collection_id == COLLECTIONS.id)
_CHOOSING = exists().where(POOLS.collection_id == COLLECTIONS.id, POOLS.strategy.in_(ADAPTIVE))
_STATEMENT = (
    select(
        USERS.name,
        USERS.sign_in_generation,
        COLLECTIONS.id.label("collection_id"),
        MEMBERSHIPS.id.label("judges"),
        _IN_FORCE.scalar_subquery().label("guidelines"),
        _UNREAD.scalar_subquery().label("answers"),
        _NEWEST.scalar_subquery().label("clarifications"),
        _CHOOSING.label("is_adaptive"),
        exists().where(ENDED.key == bindparam("key")).label("has_ended"),
    )
    .select_from(User.__table__)
    .outerjoin(Collection.__table__, COLLECTIONS.slug == bindparam("slug"))
    .outerjoin(
        Membership.__table__,
        and_(
            MEMBERSHIPS.user_id == USERS.id,
            MEMBERSHIPS.collection_id == COLLECTIONS.id,
            MEMBERSHIPS.role == bindparam("role"),
        ),
    )
    .where(USERS.id == bindparam("user_id"))
)


def _refuse(session: Session, slug: str, collection_id: int | None, user_id: int, role: Role) -> None:
    decides = Assignment.purpose == Purpose.ADJUDICATION
    drawn = (
        exists()
        .where(Assignment.judge_id == user_id, PoolItem.id == Assignment.pool_item_id, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id, decides if role == Role.ADJUDICATOR else ~decides)
    )
    if collection_id is not None and session.scalar(select(drawn)):
        if role == Role.ADJUDICATOR:
            raise NotAllowedError("You are not an adjudicator of this collection any more; what you decided is kept.")
        raise NotAllowedError("You are not a judge of this collection any more; what you judged is kept.")
    belongs = exists().where(Membership.user_id == user_id, Membership.collection_id == collection_id)
    administers = exists().where(User.id == user_id, User.administrator)
    if collection_id is not None and session.scalar(select(belongs | administers)):
        raise NotAllowedError(
            "Your role in this collection does not include this page. An organiser of the collection can "
            "change your role."
        )
    # The same message as for a collection that does not exist.
    raise NotFoundError("There is no collection “%(slug)s”.", slug=slug)
