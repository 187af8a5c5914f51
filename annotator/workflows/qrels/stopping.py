"""When to stop judging: what each stopping rule answers for each topic, and recall estimated from a random sample."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy.orm import Session

from annotator.errors import NotFoundError, Sentence
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.pooling.pool_choice import is_adaptive
from annotator.evaluation.stopping.judging_sequence import curve_of_topics
from annotator.evaluation.stopping.recall_estimates import RecallEstimate, estimate_recall
from annotator.evaluation.stopping.reviewed_topic import ReviewedTopic
from annotator.evaluation.stopping.stopping_rules import (
    RULES,
    USUAL_SETTINGS,
    Certainty,
    StoppingAnswer,
    StoppingSettings,
    StoppingState,
    decide,
    find_rule,
)
from annotator.storage import ACCEPTED, Showing
from annotator.storage.collections.collection import find_collection, topic_ids
from annotator.storage.judging.topic_counts import topic_counts
from annotator.storage.pools.pools import latest_pool, sampled_pool
from annotator.storage.pools.stopping_decisions import DecisionRow, decisions_of, stopped_topics
from annotator.workflows.pools.choosing_version import choosing_version
from annotator.workflows.qrels.reviewed_topics import candidate_counts, reviewed_topics

TOPICS_A_PAGE = 50
Cell = str | int | float | bool | None
Table = tuple[tuple[str, ...], list[list[Cell]]]


class StoppingPart(StrEnum):
    """The tables of the report."""

    TOPICS = "topics"
    RULES = "rules"
    CURVE = "curve"
    DECISIONS = "decisions"


@dataclass(frozen=True)
class StoppingRequest:
    """The request: the rules' settings, some rules and topics or all, and a page of topics, from 1, or all."""

    settings: StoppingSettings = USUAL_SETTINGS
    rules: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    page: int | None = None


@dataclass(frozen=True)
class TopicAnswers:
    """A topic: its documents, estimated recall if there is a random sample, and the answer of each rule by name."""

    number: str
    pooled: int
    candidates: int
    judged: int
    relevant: int
    estimate: RecallEstimate | None
    answers: Mapping[str, StoppingAnswer]
    is_stopped: bool


@dataclass(frozen=True)
class RuleSummary:
    """A rule over the topics: how many it would stop, and the documents judged until then and beyond."""

    name: str
    certainty: Certainty
    source: str
    topics: int
    stops: int
    judged: int
    beyond: int


@dataclass(frozen=True)
class Decision:
    """A decision on a topic, of an organiser or a rule; the row is as stored."""

    topic: str
    row: DecisionRow
    counts: bool  # whether it is the latest of the topic


@dataclass(frozen=True)
class StoppingReport:
    """Answers for some topics of all; the numbers of documents and the estimate are of all topics.

    `curve` has points of documents judged of each topic and relevant documents found by then in all of them.
    """

    settings: StoppingSettings
    topics: tuple[TopicAnswers, ...]
    all_topics: tuple[str, ...]
    page: int
    pages: int
    judged: int
    relevant: int
    estimate: RecallEstimate | None
    rules: tuple[RuleSummary, ...]
    curve: tuple[tuple[int, int], ...]
    decisions: tuple[Decision, ...]
    notices: tuple[Sentence, ...]
    until: str | None = None  # the rule until which the version that chooses goes on

    @property
    def stopped(self) -> tuple[Decision, ...]:
        """The decisions to stop that count."""
        return tuple(one for one in self.decisions if one.counts and one.row.stops)

    def table(self, part: StoppingPart) -> Table:
        """Headings and rows of a part, in full precision."""
        match part:
            case StoppingPart.TOPICS:
                return TOPIC_COLUMNS, list(self._topic_rows())
            case StoppingPart.RULES:
                return RULE_COLUMNS, [
                    [one.name, one.certainty, one.topics, one.stops, one.judged, one.beyond, one.source]
                    for one in self.rules
                ]
            case StoppingPart.CURVE:
                return ("judged_per_topic", "relevant"), [list(point) for point in self.curve]
            case StoppingPart.DECISIONS:
                return DECISION_COLUMNS, [_decision_cells(one) for one in self.decisions]

    def _topic_rows(self) -> Iterator[list[Cell]]:
        for topic in self.topics:
            known: list[Cell] = [
                *(topic.number, topic.candidates, topic.judged, topic.relevant),
                *_estimate_cells(topic.estimate),
                topic.is_stopped,
            ]
            for name, answer in topic.answers.items():
                yield [*known, name, RULES[name].certainty, answer.state, answer.at, str(answer.reason)]


TOPIC_COLUMNS = (
    *("topic", "candidates", "judged", "relevant", "recall", "recall_low", "recall_high", "stopped"),
    *("rule", "certainty", "state", "at", "reason"),
)
RULE_COLUMNS = ("rule", "certainty", "topics", "stops", "judged", "beyond", "source")
DECISION_COLUMNS = (
    *("topic", "stops", "counts", "rule", "reason", "judged", "relevant", "recall", "recall_low", "recall_high"),
    *("decided_by", "version", "decided_at"),
)


def _estimate_cells(estimate: RecallEstimate | None) -> list[Cell]:
    return [None] * 3 if estimate is None else [estimate.recall, estimate.low, estimate.high]


def _decision_cells(one: Decision) -> list[Cell]:
    row = one.row
    return [
        *(one.topic, row.stops, one.counts, row.rule or None, row.reason, row.judged, row.relevant),
        *(row.recall, row.recall_low, row.recall_high, row.decided_by, row.version),
        row.decided_at.isoformat(),
    ]


def stopping_report(session: Session, slug: str, request: StoppingRequest) -> StoppingReport:
    """Ask the stopping rules about the accepted topics, or about some of them.

    A random sample is that of the newest version which drew one. Raises `NotFoundError` for an unknown topic, and
    `InvalidValueError` for an unknown rule.
    """
    for name in request.rules:
        find_rule(name)
    collection = find_collection(session, slug)
    ids = topic_ids(session, collection.id, ACCEPTED)
    numbers = sorted(ids, key=natural_order)
    for number in request.topics:
        if number not in ids:
            raise NotFoundError("There is no topic “%(number)s” in this collection.", number=number)
    wanted = [number for number in numbers if number in request.topics] if request.topics else numbers
    pages = max(-(-len(wanted) // TOPICS_A_PAGE), 1)
    page = min(max(request.page or 1, 1), pages)
    shown = wanted if request.page is None else wanted[(page - 1) * TOPICS_A_PAGE : page * TOPICS_A_PAGE]
    sample = sampled_pool(session, collection.id)
    candidates = candidate_counts(session, collection, [ids[number] for number in shown])
    reviewed = reviewed_topics(session, collection, [ids[number] for number in wanted], sample, candidates)
    counts = topic_counts(session, collection.id)
    decisions = _decisions(session, collection.id, {id_: number for number, id_ in ids.items()})
    stopped, choosing = stopped_topics(session, collection.id), choosing_version(session, slug)
    topics = [
        _answers(number, reviewed[ids[number]], counts[ids[number]].items, request, is_stopped=ids[number] in stopped)
        for number in shown
    ]
    relevant = sum(int(one.relevant.sum()) for one in reviewed.values())
    sampled = [one for one in reviewed.values() if one.strata]
    return StoppingReport(
        settings=request.settings,
        topics=tuple(topics),
        all_topics=tuple(numbers),
        page=page,
        pages=1 if request.page is None else pages,
        judged=sum(one.judged for one in reviewed.values()),
        relevant=relevant,
        estimate=_estimate_of_all(sampled) if len(sampled) == len(reviewed) else None,
        rules=tuple(_summaries(topics, request.rules or tuple(RULES))),
        curve=tuple(curve_of_topics(list(reviewed.values()))),
        decisions=tuple(one for one in decisions if not request.topics or one.topic in request.topics),
        notices=tuple(_notices(session, collection.id, list(reviewed.values()))),
        until=None if choosing is None or choosing.strategy.until is None else str(choosing.strategy.until),
    )


def _answers(
    number: str, topic: ReviewedTopic, pooled: int, request: StoppingRequest, *, is_stopped: bool
) -> TopicAnswers:
    return TopicAnswers(
        number,
        pooled,
        topic.candidates,
        topic.judged,
        int(topic.relevant.sum()),
        estimate_recall(topic.sampled, topic.relevant_outside),
        {name: decide(name, topic, request.settings) for name in request.rules or RULES},
        is_stopped,
    )


def _estimate_of_all(topics: Sequence[ReviewedTopic]) -> RecallEstimate | None:
    """Estimated recall over all of these topics, which have random samples."""
    strata = [stratum for topic in topics for stratum in topic.sampled]
    return estimate_recall(strata, sum(topic.relevant_outside for topic in topics), pooled=True)


def _summaries(topics: Sequence[TopicAnswers], names: Sequence[str]) -> Iterator[RuleSummary]:
    for name in names:
        answers = [(topic, topic.answers[name]) for topic in topics]
        ends = [
            answer.at if answer.state is StoppingState.STOP and answer.at is not None else topic.judged
            for topic, answer in answers
        ]
        stops = sum(answer.state is StoppingState.STOP for _, answer in answers)
        beyond = sum(topic.judged for topic, _ in answers) - sum(ends)
        yield RuleSummary(name, RULES[name].certainty, RULES[name].source, len(topics), stops, sum(ends), beyond)


def _decisions(session: Session, collection_id: int, numbers: Mapping[int, str]) -> list[Decision]:
    rows = [row for row in decisions_of(session, collection_id) if row.topic_id in numbers]
    latest = {row.topic_id: place for place, row in enumerate(rows)}
    return [Decision(numbers[row.topic_id], row, latest[row.topic_id] == place) for place, row in enumerate(rows)]


def _notices(session: Session, collection_id: int, topics: Sequence[ReviewedTopic]) -> Iterator[Sentence]:
    without = sum(not one.strata for one in topics)
    if without:
        yield Sentence(
            "Topics without a random sample: %(count)d of %(all)d. For them there is neither an interval nor a rule "
            "with a guarantee. To have them, draw one first: build the pool with the strategy stratified and one "
            "stratum such as 1-1000:0.1, and have it judged before anything else.",
            {"count": without, "all": len(topics)},
        )
    waiting = sum(one.waiting for one in topics)
    if waiting:
        yield Sentence(
            "Documents of the random sample that are not judged yet: %(count)d. Until they are, estimates take those "
            "that are judged for the sample, and no rule with a guarantee answers.",
            {"count": waiting},
        )
    if without < len(topics) and not any(one.comes_again for one in topics):
        yield Sentence(
            "The review has not come to any document of the random sample: only the strategy cal, started after the "
            "sample, does. The target set waits for that; the hypergeometric rule needs no second meeting."
        )
    pool = latest_pool(session, collection_id)
    if pool is not None and not is_adaptive(pool.strategy) and pool.showing == Showing.RANDOM:
        yield Sentence(
            "Judges see the documents of the newest version in random order. The knee, documents in a row and the "
            "budgets expect that the most promising ones come first."
        )
