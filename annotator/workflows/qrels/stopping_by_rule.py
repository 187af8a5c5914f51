"""Decisions by the stopping rule of a pool that goes on until it says stop. A worker asks it, after judgements.

A rule stops a topic and, when judgements were changed so that it would not have, takes that back. What a person decided
it leaves alone: a stop, and to go on with a topic that it has stopped, until a new version of the pool is built.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.evaluation.pooling.strategies import LEARNING
from annotator.evaluation.stopping.reviewed_topic import ReviewedTopic
from annotator.evaluation.stopping.stopping_rules import StoppingAnswer, StoppingState
from annotator.storage import Topic, TopicState
from annotator.storage.collections.collection import lock_collection
from annotator.storage.documents.documents import greatest_document
from annotator.storage.judging.adaptive_choices import choices_made, judged_before_choosing
from annotator.storage.pools.learning_rounds import collections_that_learn
from annotator.storage.pools.pools import latest_pool, sampled_pool
from annotator.storage.pools.stopping_decisions import latest_decision, latest_decisions
from annotator.storage.topics.revisions import revisions
from annotator.workflows.pools.choosing_version import ChoosingVersion, basis_of, choosing_version
from annotator.workflows.qrels.reviewed_topics import candidate_counts, reviewed_topics
from annotator.workflows.qrels.stopping_decisions import DecisionMade, decision_on, known_of_topic


@dataclass(frozen=True)
class DueDecision:
    """A topic that the rule of its pool would stop, or go on with."""

    slug: str
    topic_id: int


@dataclass
class RuleMemory:
    """A process's cache: topics about which nothing was to be decided, with what that depended on."""

    idle: dict[int, Hashable] = field(default_factory=dict)


def due_decisions(session: Session, memory: RuleMemory) -> list[DueDecision]:
    """Ask the rules about the topics with new judgements or choices: those on which a decision is due."""
    due: list[DueDecision] = []
    for collection in collections_that_learn(session, LEARNING):
        version = choosing_version(session, collection.slug)
        if version is None or version.strategy.until is None:
            continue
        newest, greatest = latest_pool(session, collection.id), greatest_document(session)
        shared = (version.pool.id, newest.id if newest else 0, greatest, repr(basis_of(version)))
        made, decided = choices_made(session, version.pool.id), latest_decisions(session, collection.id)
        for topic_id, revision in revisions(session, collection.id).items():
            state = (*shared, revision, made.get(topic_id), decided.get(topic_id))
            if memory.idle.get(topic_id) == state:
                continue
            if _asked(session, version, topic_id) is None:
                memory.idle[topic_id] = state
            else:
                due.append(DueDecision(collection.slug, topic_id))
    return due


def decide_by_rule(session: Session, due: DueDecision, *, at: datetime) -> DecisionMade | None:
    """Record what the rule of the choosing version answers about a topic; None when nothing is to be decided any more.

    The decision names the rule, the version, and what is known.
    """
    lock_collection(session, due.slug)
    version = choosing_version(session, due.slug)
    asked = None if version is None else _asked(session, version, due.topic_id)
    if version is None or version.strategy.until is None or asked is None:
        return None
    reviewed, answer = asked
    topic = session.get_one(Topic, due.topic_id)
    stops = answer.state is StoppingState.STOP
    made = known_of_topic(topic.number, reviewed, stops=stops, rule=version.strategy.until.name)
    session.add(decision_on(topic, made, str(answer.reason), pool_id=version.pool.id, at=at))
    return made


def _asked(session: Session, version: ChoosingVersion, topic_id: int) -> tuple[ReviewedTopic, StoppingAnswer] | None:
    """The topic and the answer of the rule, None where it changes nothing and where a person's decision counts."""
    rule, topic = version.strategy.until, session.get(Topic, topic_id)
    latest = latest_decision(session, topic_id)
    if rule is None or topic is None or topic.state != TopicState.ACCEPTED:
        return None
    if latest is not None and latest.pool_id is None and (latest.stops or latest.decided_at >= version.pool.built_at):
        return None
    sample = sampled_pool(session, version.collection.id)
    candidates = candidate_counts(session, version.collection, [topic_id])
    reviewed = reviewed_topics(session, version.collection, [topic_id], sample, candidates)[topic_id]
    begun = judged_before_choosing(session, version.pool, topic_id)
    answer = rule.decide(reviewed, reviewed.judged if begun is None else begun)
    is_stopped = latest is not None and latest.stops
    return None if (answer.state is StoppingState.STOP) is is_stopped else (reviewed, answer)
