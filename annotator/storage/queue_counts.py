"""How far somebody is in a topic, as a judge or as an adjudicator."""

from datetime import datetime

from sqlalchemy.orm import Session

from annotator.storage.collection import Collection, Topic, TopicState
from annotator.storage.disputes import OwnDisputes, own_disputes
from annotator.storage.drawing import Queue
from annotator.storage.judge_queue import done_items, waiting_items
from annotator.storage.pools import PoolItem


def judged_and_waiting(
    session: Session, collection: Collection, topic: Topic, judge_id: int, now: datetime, queue: Queue
) -> tuple[int, int]:
    """How many documents of a topic they judged there, and how many wait for them; of a dropped topic none waits."""
    in_topic = PoolItem.topic_id == topic.id
    is_accepted = topic.state == TopicState.ACCEPTED
    if queue == Queue.ADJUDICATION:
        own = own_disputes(session, collection.id, judge_id, in_topic).get(topic.id, OwnDisputes())
        return own.decided, own.waiting if is_accepted else 0
    waiting = waiting_items(session, judge_id, collection, in_topic, now)[topic.id] if is_accepted else 0
    return done_items(session, judge_id, in_topic)[topic.id], waiting
