"""Whether somebody may judge or decide in a collection, as one short question: it is asked with every judgement."""

from dataclasses import dataclass
from typing import cast

from sqlalchemy import Table, and_, bindparam, exists, func, select
from sqlalchemy.orm import Session

from annotator.errors import NotAllowedError, NotFoundError
from annotator.evaluation.pooling.pool_choice import ADAPTIVE
from annotator.storage import (
    Assignment,
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
    """Somebody who may judge, or decide, in a collection, with what their page is to know at once.

    `guidelines` is the number in force, 0 before the first; `answers` counts those to their questions that they have
    not been shown. `is_adaptive` says that a strategy may still choose documents there.
    """

    id: int
    name: str
    guidelines: int
    answers: int
    is_adaptive: bool


def find_judge(
    session: Session, slug: str, user_id: int, generation: int, key: str, role: Role = Role.JUDGE
) -> JudgeHere | None:
    """The judge with that account, or who has another role; None when its sessions, or that of the key, have ended.

    Raises `NotAllowedError` for who has not that role there, or no longer, and `NotFoundError` where others, who must
    not know of the collection, get that answer.
    """
    wanted = {"slug": slug, "user_id": user_id, "role": role.value, "key": key}
    row = session.connection().execute(_STATEMENT, wanted).one_or_none()
    if row is None or row.sign_in_generation != generation or row.has_ended:
        return None
    if row.judges is None:
        _refuse(session, slug, row.collection_id, user_id, role)
    return JudgeHere(user_id, row.name, row.guidelines or 0, row.answers, bool(row.is_adaptive))


# Put together once and from the tables themselves, which takes a fraction of the time.
USERS = cast("Table", User.__table__).c
COLLECTIONS = cast("Table", Collection.__table__).c
MEMBERSHIPS = cast("Table", Membership.__table__).c
GUIDELINES = cast("Table", GuidelineVersion.__table__).c
QUESTIONS = cast("Table", Question.__table__).c
POOLS = cast("Table", Pool.__table__).c
ENDED = cast("Table", EndedSession.__table__).c
_IN_FORCE = select(func.max(GUIDELINES.number)).where(GUIDELINES.collection_id == COLLECTIONS.id)
_UNREAD = select(func.count(QUESTIONS.id)).where(
    QUESTIONS.collection_id == COLLECTIONS.id,
    QUESTIONS.asked_by_id == USERS.id,
    QUESTIONS.answered_at.is_not(None),
    QUESTIONS.read_at.is_(None),
)
_CHOOSING = exists().where(POOLS.collection_id == COLLECTIONS.id, POOLS.strategy.in_(ADAPTIVE))
_STATEMENT = (
    select(
        USERS.name,
        USERS.sign_in_generation,
        COLLECTIONS.id.label("collection_id"),
        MEMBERSHIPS.id.label("judges"),
        _IN_FORCE.scalar_subquery().label("guidelines"),
        _UNREAD.scalar_subquery().label("answers"),
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
    # The words are those of a collection that does not exist.
    raise NotFoundError("There is no collection “%(slug)s”.", slug=slug)
