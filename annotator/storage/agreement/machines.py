"""Machine judges: their model and prompt, and their labels that are not on the scale."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime
from typing import NamedTuple

from sqlalchemy import exists, or_, select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.storage.judging.duplicates import SHOWN
from annotator.storage.judging.imported_judgements import OUTSIDE_SCALE
from annotator.storage.judging.machine_labels import judge_pooled
from annotator.storage.people.accounts import find_or_add_user
from annotator.storage.tables.documents import Document
from annotator.storage.tables.judging import (
    DECIDES,
    TAKES_NO_PLACE,
    Assignment,
    AssignmentState,
    Judgement,
    MachineLabels,
)
from annotator.storage.tables.people import User, UserKind
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import ACCEPTED, Topic
from annotator.storage.topics.revisions import raise_topics


@dataclass(frozen=True)
class MachineFacts:
    """A machine's model, prompt and date of labelling; "" and None mean unknown."""

    model: str = ""
    prompt: str = ""
    labelled_on: date | None = None


@dataclass(frozen=True)
class Machine:
    """A machine judge and its known facts."""

    name: str
    facts: MachineFacts


class OutsideLabel(NamedTuple):
    """A machine's label of a document that is not a grade of the scale."""

    machine: str
    topic: str
    docno: str
    label: str


def make_machine(session: Session, user: User, facts: MachineFacts) -> None:
    """Mark a judge as a machine, or update its facts; documents that it labelled want a person's judgement again.

    Raises `ConflictError` for somebody who has been assigned documents as an adjudicator.
    """
    _hold_back(session, user)
    was_person = user.kind != UserKind.MACHINE
    if was_person:
        _refuse_adjudicator(session, user)
        _change_places(session, user.id, -1)
    user.kind, user.model, user.prompt = UserKind.MACHINE, facts.model, facts.prompt
    user.labelled_on = facts.labelled_on
    if was_person:  # for labels of the time when the judge was a machine before
        _judge_pooled(session, user.id)


def make_person(session: Session, user: User) -> None:
    """Mark a machine as a person again; its judgements count toward the wanted judgements."""
    _hold_back(session, user)
    if user.kind == UserKind.MACHINE:
        _change_places(session, user.id, 1)
    user.kind, user.model, user.prompt, user.labelled_on = UserKind.PERSON, "", "", None


def find_or_add_labeller(session: Session, name: str, facts: MachineFacts | None, added_at: datetime) -> User:
    """The account for imported labels, created if missing; `facts` mark it as a machine and are stored.

    Raises `InvalidValueError` for an unusable name, and `ConflictError` when the account is a person's or a machine
    with another model or prompt.
    """
    known = session.scalar(select(User).where(User.name == name))
    user = find_or_add_user(session, name, added_at)
    if facts is None:
        # Nobody may change the judge's kind until the labels are stored: it decides whether they count as `taken`.
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
    """The machines with current judgements or packed labels in accepted topics, by name."""
    of_collection = Topic.collection_id == collection_id, ACCEPTED
    # For each machine its first judgement is looked up: reading those of the collection takes SQLite seconds at a
    # million, or hours by a plan that joins every topic with every judgement.
    judged = (
        select(Judgement.id)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Judgement.judge_id == User.id, Judgement.current, *of_collection)
    )
    packed = (
        select(MachineLabels.id)
        .join(Topic, Topic.id == MachineLabels.topic_id)
        .where(MachineLabels.judge_id == User.id, *of_collection)
    )
    has_labels = or_(judged.exists(), packed.exists())
    of_kind = select(User).where(User.kind == UserKind.MACHINE, has_labels).order_by(User.name)
    return [
        Machine(user.name, MachineFacts(user.model, user.prompt, user.labelled_on)) for user in session.scalars(of_kind)
    ]


def labels_outside(session: Session, collection_id: int, topics: Collection[int]) -> list[OutsideLabel]:
    """Current labels by machines of pooled documents of these topics that are not grades of the scale.

    One per machine and document.
    """
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


def _judge_pooled(session: Session, judge_id: int) -> None:
    """Make judgements of packed labels of documents that were pooled while the judge was a person."""
    session.flush()
    labelled = select(Topic.collection_id, Topic.id).join(MachineLabels, MachineLabels.topic_id == Topic.id)
    topics: dict[int, list[int]] = {}
    for collection_id, topic_id in session.execute(labelled.where(MachineLabels.judge_id == judge_id).distinct()):
        topics.setdefault(collection_id, []).append(topic_id)
    for collection_id, of_collection in topics.items():
        judge_pooled(session, collection_id, sorted(of_collection), judge_id)


def _hold_back(session: Session, user: User) -> None:
    """Lock a judge's account and assignments against assigning, returning and judging until the transaction ends.

    Those operations update `taken` according to the judge's kind. Writers of judgements wait for the account, and those
    who return assignments wait for the assignments. The account is reread.
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
    """The known value, or the new one when none is known; raises `ConflictError` when they differ."""
    if before and now and before != now:
        raise ConflictError(
            "The machine “%(name)s” is known with another model or prompt; give these labels a name of their own.",
            name=name,
        )
    return now or before


def _change_places(session: Session, judge_id: int, change: int) -> None:
    """Add `change` to `taken` of the items that this judge holds or has judged."""
    own = select(Assignment.pool_item_id).where(
        Assignment.judge_id == judge_id,
        Assignment.state != AssignmentState.RETURNED,
        Assignment.purpose.not_in(TAKES_NO_PLACE),
    )
    raise_topics(session, _judged_topics(session, judge_id))
    items = session.scalars(select(PoolItem.id).where(PoolItem.id.in_(own)).order_by(PoolItem.id).with_for_update())
    if items.all():
        session.execute(update(PoolItem).where(PoolItem.id.in_(own)).values(taken=PoolItem.taken + change))


def _judged_topics(session: Session, judge_id: int) -> list[int]:
    """Topics with a judgement of this judge, whose progress and grades depend on the kind of the judge."""
    judged = select(PoolItem.topic_id).join(Judgement, Judgement.pool_item_id == PoolItem.id)
    return list(session.scalars(judged.where(Judgement.judge_id == judge_id).distinct()))
