"""Recording of the organiser's decision to stop judging a topic, with what was known then, and to take it back."""

from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError
from annotator.evaluation.formats.identifiers import check_free_text
from annotator.evaluation.stopping.recall_estimates import estimate_recall
from annotator.evaluation.stopping.reviewed_topic import ReviewedTopic
from annotator.evaluation.stopping.stopping_rules import find_rule
from annotator.storage import StoppingDecision, Topic, TopicState
from annotator.storage.collections.collection import find_topic, lock_open_collection
from annotator.storage.pools.pools import sampled_pool
from annotator.storage.pools.stopping_decisions import is_stopped
from annotator.workflows.qrels.reviewed_topics import reviewed_topics

LONGEST_REASON = 1_000


@dataclass(frozen=True)
class DecisionMade:
    """A stored decision: what was known of the topic."""

    topic: str
    stops: bool
    rule: str | None
    judged: int
    relevant: int
    recall: float | None
    recall_low: float | None
    recall_high: float | None


def decide_topic(
    session: Session,
    slug: str,
    number: str,
    *,
    stops: bool,
    reason: str,
    rule: str | None = None,
    by_id: int | None,
    at: datetime,
) -> DecisionMade:
    """Record the decision to stop judging a topic, or to go on with a stopped one; earlier decisions stay.

    A stopped topic gets no further documents from an adaptive strategy; those in its pool are still judged. Raises
    `NotFoundError` for an unknown topic, `InvalidValueError` without a reason and for an unknown rule, and
    `ConflictError` for a topic that is not accepted, and where the decision would change nothing.
    """
    reason = " ".join(reason.split())
    if not reason:
        raise InvalidValueError("Give a reason for the decision: it is recorded with it.")
    check_free_text(reason, LONGEST_REASON)
    if rule is not None:
        find_rule(rule)
    collection = lock_open_collection(session, slug)
    topic = find_topic(session, collection.id, number)
    _check_change(session, topic, stops=stops)
    sample = sampled_pool(session, collection.id)
    reviewed = reviewed_topics(session, collection, [topic.id], sample, {})[topic.id]
    made = known_of_topic(topic.number, reviewed, stops=stops, rule=rule)
    session.add(decision_on(topic, made, reason, by_id=by_id, at=at))
    return made


def decision_on(
    topic: Topic, made: DecisionMade, reason: str, *, by_id: int | None = None, pool_id: int | None = None, at: datetime
) -> StoppingDecision:
    """The row of a decision, taken by a person or by the rule of a version of the pool."""
    known = {name: value for name, value in asdict(made).items() if name not in {"topic", "rule"}}
    decision = StoppingDecision(topic_id=topic.id, rule=made.rule or "", reason=reason, **known)
    decision.decided_by_id, decision.pool_id, decision.decided_at = by_id, pool_id, at
    return decision


def known_of_topic(number: str, reviewed: ReviewedTopic, *, stops: bool, rule: str | None) -> DecisionMade:
    """A decision with what is known of the topic."""
    estimate = estimate_recall(reviewed.sampled, reviewed.relevant_outside)
    known = (None, None, None) if estimate is None else (estimate.recall, estimate.low, estimate.high)
    return DecisionMade(number, stops, rule, reviewed.judged, int(reviewed.relevant.sum()), *known)


def _check_change(session: Session, topic: Topic, *, stops: bool) -> None:
    if topic.state != TopicState.ACCEPTED:
        raise ConflictError("Topic “%(number)s” is not accepted, so nothing is judged of it.", number=topic.number)
    if is_stopped(session, topic.id) is not stops:
        return
    if stops:
        raise ConflictError("Topic “%(number)s” is stopped already.", number=topic.number)
    raise ConflictError("Topic “%(number)s” is not stopped, so there is nothing to take back.", number=topic.number)
