"""Judges that are machines: what they are, and what they said that is no grade."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime
from typing import NamedTuple

from sqlalchemy import exists, select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.storage.judging.duplicates import SHOWN
from annotator.storage.judging.imported_judgements import OUTSIDE_SCALE
from annotator.storage.people.accounts import find_or_add_user
from annotator.storage.tables.documents import Document
from annotator.storage.tables.judging import BESIDES, DECIDES, Assignment, AssignmentState, Judgement, Purpose
from annotator.storage.tables.people import User, UserKind
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import ACCEPTED, Topic

# What these are for takes none of the places that an item has for its judges.
TAKES_NO_PLACE = (*BESIDES, Purpose.CARRIED)


@dataclass(frozen=True)
class MachineFacts:
    """What a machine is, what it was told, and when it gave its labels; "" and None are not known."""

    model: str = ""
    prompt: str = ""
    labelled_on: date | None = None


@dataclass(frozen=True)
class Machine:
    """A judge that is a machine, and what is known of it."""

    name: str
    facts: MachineFacts


class OutsideLabel(NamedTuple):
    """What a machine said of a document that is no grade of the scale."""

    machine: str
    topic: str
    docno: str
    label: str


def make_machine(session: Session, user: User, facts: MachineFacts) -> None:
    """Make a judge a machine, or change what is known of it; the documents it has labelled want a person again.

    Raises `ConflictError` for somebody who was given documents as an adjudicator.
    """
    _hold_back(session, user)
    if user.kind != UserKind.MACHINE:
        _refuse_adjudicator(session, user)
        _change_places(session, user.id, -1)
    user.kind, user.model, user.prompt = UserKind.MACHINE, facts.model, facts.prompt
    user.labelled_on = facts.labelled_on


def make_person(session: Session, user: User) -> None:
    """Take it back that a judge is a machine; its judgements are among those that are wanted."""
    _hold_back(session, user)
    if user.kind == UserKind.MACHINE:
        _change_places(session, user.id, 1)
    user.kind, user.model, user.prompt, user.labelled_on = UserKind.PERSON, "", "", None


def find_or_add_labeller(session: Session, name: str, facts: MachineFacts | None, added_at: datetime) -> User:
    """The account whose labels come in, made when it is new; with `facts` it is a machine's, and is told them.

    Raises `InvalidValueError` for an unusable name, and `ConflictError` when it is a person's and when it is that of a
    machine of another model or prompt.
    """
    known = session.scalar(select(User).where(User.name == name))
    user = find_or_add_user(session, name, added_at)
    if facts is None:
        # Nobody marks the judge until the labels are stored, which take places or take none.
        session.refresh(user, with_for_update={"read": True, "key_share": True})
        return user
    _hold_back(session, user)
    if known is not None and known.kind == UserKind.PERSON:
        raise ConflictError(
            "The judge “%(name)s” is a person here: give the machine another name, or mark this judge as a machine "
            "first.",
            name=name,
        )
    model, prompt = (_agreed(name, *texts) for texts in ((user.model, facts.model), (user.prompt, facts.prompt)))
    make_machine(session, user, MachineFacts(model, prompt, facts.labelled_on or user.labelled_on))
    return user


def machines_of(session: Session, collection_id: int) -> list[Machine]:
    """The machines that have said anything of accepted topics, by name."""
    said = (
        select(Judgement.judge_id)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id, ACCEPTED, Judgement.current)
    )
    of_kind = select(User).where(User.kind == UserKind.MACHINE, User.id.in_(said)).order_by(User.name)
    return [
        Machine(user.name, MachineFacts(user.model, user.prompt, user.labelled_on)) for user in session.scalars(of_kind)
    ]


def labels_outside(session: Session, collection_id: int, topics: Collection[int]) -> list[OutsideLabel]:
    """What machines say now of these topics' documents that is no grade, each document once."""
    rows = session.execute(
        select(User.name, Topic.number, Document.docno, Judgement.note, PoolItem.topic_id)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Document, Document.id == PoolItem.document_id)
        .join(User, User.id == Judgement.judge_id)
        .where(
            Topic.collection_id == collection_id,
            User.kind == UserKind.MACHINE,
            Judgement.current,
            Judgement.cannot_judge.is_not(None),
            SHOWN,
        )
        .order_by(User.name, Judgement.id)
    )
    wanted = set(topics)
    return [
        OutsideLabel(name, number, docno, note.removeprefix(OUTSIDE_SCALE))
        for name, number, docno, note, topic_id in rows
        if topic_id in wanted
    ]


def _hold_back(session: Session, user: User) -> None:
    """Let nothing be given to a judge, taken back from them or said by them until the transaction ends.

    Whoever does that counts places by what the judge is. With the account everybody waits who is about to store
    something of theirs, and with the assignments who gives them back. What is known of the account is read again.
    """
    session.refresh(user, with_for_update=True)
    own = select(Assignment.id).where(Assignment.judge_id == user.id, Assignment.state != AssignmentState.RETURNED)
    session.execute(own.order_by(Assignment.pool_item_id, Assignment.id).with_for_update()).all()


def _refuse_adjudicator(session: Session, user: User) -> None:
    if session.scalar(select(exists().where(Assignment.judge_id == user.id, DECIDES))):
        raise ConflictError(
            "“%(name)s” was given documents to decide, as an adjudicator, and only people decide: give the machine "
            "another name.",
            name=user.name,
        )


def _agreed(name: str, before: str, now: str) -> str:
    """What is known and what is told now; labels of two models or prompts are of two machines."""
    if before and now and before != now:
        raise ConflictError(
            "The machine “%(name)s” is known with another model or prompt; give these labels a name of their own.",
            name=name,
        )
    return now or before


def _change_places(session: Session, judge_id: int, change: int) -> None:
    """Let the judge's documents have so many more judges than they had."""
    own = select(Assignment.pool_item_id).where(
        Assignment.judge_id == judge_id,
        Assignment.state != AssignmentState.RETURNED,
        Assignment.purpose.not_in(TAKES_NO_PLACE),
    )
    items = session.scalars(select(PoolItem.id).where(PoolItem.id.in_(own)).order_by(PoolItem.id).with_for_update())
    if items.all():
        session.execute(update(PoolItem).where(PoolItem.id.in_(own)).values(taken=PoolItem.taken + change))
