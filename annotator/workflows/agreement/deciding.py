"""A decision on one disagreement, made where organisers see all judgements of the document."""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError
from annotator.storage import ACCEPTED, Document, PoolItem, Role
from annotator.storage.agreement.adjudication_queue import take_disputed
from annotator.storage.collections.collection import find_collection, find_topic, refuse_closed_judging
from annotator.storage.judging.drawing import Queue
from annotator.storage.judging.leases import Decision, give_back_expired
from annotator.storage.people.accounts import find_membership, find_user
from annotator.workflows.judging.recording import record_judgement

# Those who see all judgements of a document, or decide what is in dispute.
DECIDERS = (Role.ADJUDICATOR, Role.ORGANISER)


def adjudicator_id(session: Session, slug: str, name: str) -> int:
    """The user id of an adjudicator or organiser of a collection; raises `NotFoundError` for anybody else."""
    collection_id = find_collection(session, slug).id
    user_id = find_user(session, name).id
    if not any(find_membership(session, collection_id, user_id, role) for role in DECIDERS):
        raise NotFoundError("“%(name)s” is no adjudicator or organiser of this collection.", name=name)
    return user_id


def decide_disagreement(
    session: Session,
    slug: str,
    topic: str,
    docno: str,
    user_id: int,
    decision: Decision,
    *,
    client_id: str,
    decided_at: datetime,
) -> None:
    """Store a decision as an adjudication by this user; deciding again replaces their earlier decision.

    Raises `NotFoundError` for a document that is not in the pool, `ConflictError` for one that this user may not decide
    and when judging has ended, and `InvalidValueError` for a grade outside the scale.
    """
    collection = find_collection(session, slug)
    refuse_closed_judging(session, collection.id)
    topic_id = find_topic(session, collection.id, topic, ACCEPTED).id
    item_id = session.scalar(
        select(PoolItem.id)
        .join(Document, Document.id == PoolItem.document_id)
        .where(PoolItem.topic_id == topic_id, Document.docno == docno)
    )
    if item_id is None:
        raise NotFoundError("There is no document “%(docno)s” in the pool of this topic.", docno=docno)
    give_back_expired(session, decided_at)
    assignment_id = take_disputed(session, item_id, user_id, decided_at)
    if assignment_id is None:
        raise ConflictError(
            "You cannot decide on this document: you judged it yourself, another adjudicator holds it or has decided, "
            "or the judges agree by now."
        )
    record_judgement(
        session,
        slug,
        assignment_id,
        user_id,
        decision,
        client_id=client_id,
        judged_at=decided_at,
        queue=Queue.ADJUDICATION,
    )
