"""When to stop: rules on stored judgements, samples among them, and the organiser's decisions."""

import pytest
from build import NOW, SLUG, build, document_file, labels, news, pool, pooled_news, run, topic_file, user
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.evaluation.stopping.recall_estimates import IntervalMethod
from annotator.evaluation.stopping.stopping_rules import RULES, StoppingSettings, StoppingState
from annotator.storage import Document, Pool, PoolItem, SelectionEvent, Showing, Topic
from annotator.storage.collections.collection import find_collection
from annotator.storage.pools.pools import PoolRequest
from annotator.storage.pools.stopping_decisions import stopped_topics
from annotator.workflows.pools.pool_selection import Memory, choices_left
from annotator.workflows.qrels.stopping import (
    TOPICS_A_PAGE,
    StoppingPart,
    StoppingReport,
    StoppingRequest,
    stopping_report,
)
from annotator.workflows.qrels.stopping_decisions import LONGEST_REASON, decide_topic
from annotator.workflows.topics.topic_editing import drop_topics

DOCNOS = [f"d{number:03}" for number in range(200)]
RELEVANT = set(DOCNOS[:40])


def report(session: Session, **request: object) -> StoppingReport:
    return stopping_report(session, SLUG, StoppingRequest(**request))  # type: ignore[arg-type]  # of one test each


def one_run(session: Session) -> None:
    """A topic whose run has 200 documents, the relevant ones first."""
    news(session)
    topic_file(session, "1\tfirst topic\n")
    run(session, "alpha", {"1": DOCNOS})


def grades(docnos: list[str]) -> str:
    return "".join(f"1 0 {docno} {int(docno in RELEVANT)}\n" for docno in docnos)


def sampled(session: Session) -> list[str]:
    """The docnos of the newest version's sample."""
    newest = select(Pool.id).order_by(Pool.version.desc()).limit(1).scalar_subquery()
    statement = select(Document.docno).join(PoolItem, PoolItem.document_id == Document.id)
    return list(session.scalars(statement.where(PoolItem.first_pool_id == newest, PoolItem.stratum.is_not(None))))


def draw(session: Session, strata: str = "1-200:0.25") -> list[str]:
    build(session, PoolRequest("stratified", {"strata": strata}), seed=1)
    return sampled(session)


def test_documents_count_in_the_order_in_which_they_were_judged(session: Session) -> None:
    one_run(session)
    build(session, PoolRequest("rrf", {"budget": 200}), showing=Showing.SELECTION)
    for docno in (*DOCNOS[38:43], *DOCNOS[:38]):
        labels(session, "jo", grades([docno]))
    [topic] = report(session, settings=StoppingSettings(in_a_row=3)).topics
    assert (topic.judged, topic.relevant, topic.candidates) == (43, 40, 200)
    # d040, d041 and d042 are not relevant: the third to the fifth document.
    assert (topic.answers["in-a-row"].state, topic.answers["in-a-row"].at) == (StoppingState.STOP, 5)
    found = report(session, rules=("in-a-row",))
    assert set(found.topics[0].answers) == {"in-a-row"}
    assert found.topics[0].answers["in-a-row"].state is StoppingState.GO_ON
    assert found.table(StoppingPart.CURVE)[1][-1] == [43, 40]


def test_the_settled_grade_counts_and_a_change_does_not_move_a_document(session: Session) -> None:
    pooled_news(session, judgements_wanted=2)
    labels(session, "jo", "1 0 a 1\n")
    labels(session, "jo", "1 0 b 0\n")
    labels(session, "kim", "1 0 a 0\n1 0 b 0\n")
    labels(session, "jo", "1 0 a 0\n")
    [topic] = report(session, topics=("1",), settings=StoppingSettings(in_a_row=2)).topics
    assert (topic.judged, topic.relevant, topic.answers["in-a-row"].at) == (2, 0, 2)
    assert report(session).judged == 2


def test_without_a_sample_there_is_no_interval_and_no_guarantee(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 1\n1 0 b 0\n")
    found = report(session)
    assert [topic.estimate for topic in found.topics] == [None, None]
    assert found.estimate is None
    assert found.topics[0].answers["target-set"].state is StoppingState.NOT_APPLICABLE
    assert "Topics without a random sample: 2 of 2" in str(found.notices[0])
    assert "random order" in str(found.notices[-1])


def test_nothing_judged_and_nothing_pooled(session: Session) -> None:
    news(session)
    topic_file(session)
    found = report(session)
    assert (found.judged, found.relevant, found.curve) == (0, 0, ((0, 0),))
    assert all(answer.state is not StoppingState.STOP for one in found.topics for answer in one.answers.values())


def test_recall_is_estimated_from_a_sample_that_is_judged_first(session: Session) -> None:
    one_run(session)
    docnos = draw(session)
    assert len(docnos) == 50
    labels(session, "jo", grades(docnos[:20]))
    [topic] = report(session).topics
    assert topic.candidates == 200
    assert topic.answers["hypergeometric"].state is StoppingState.CANNOT_CERTIFY
    assert "not judged yet: 30" in str(report(session).notices[0])
    labels(session, "jo", grades(docnos))
    in_sample = len(RELEVANT & set(docnos))
    found = report(session)
    [topic] = found.topics
    assert topic.estimate is not None
    assert topic.estimate.relevant == pytest.approx(4 * in_sample)
    assert topic.estimate.recall == pytest.approx(1 / 4)
    assert topic.estimate.low < 1 / 4 < topic.estimate.high
    assert found.estimate == topic.estimate
    assert found.estimate.method is IntervalMethod.HYPERGEOMETRIC


def test_what_a_strategy_finds_counts_as_found_but_not_for_the_estimate(session: Session) -> None:
    one_run(session)
    docnos = draw(session)
    labels(session, "jo", grades(docnos))
    before = report(session).topics[0].estimate
    build(session, PoolRequest("rrf", {"budget": 60}), showing=Showing.SELECTION)
    labels(session, "jo", grades(DOCNOS[:60]))
    [topic] = report(session).topics
    assert before is not None
    assert topic.estimate is not None
    assert topic.relevant == 40
    assert topic.estimate.relevant == pytest.approx(max(before.relevant, 40))
    assert topic.estimate.recall > 0.7
    answer = topic.answers["hypergeometric"]
    assert "by the sample there are up to" in str(answer.reason)
    assert any("has not come to any document" in str(notice) for notice in report(session).notices)


def test_the_whole_strata_of_a_sample_are_found(session: Session) -> None:
    one_run(session)
    build(session, PoolRequest("stratified", {"strata": "1-20:1, 21-200:0.2"}), seed=1)
    docnos = sampled(session)
    assert len(docnos) == 20 + 36
    labels(session, "jo", grades(docnos))
    [topic] = report(session).topics
    in_sample = len(RELEVANT & set(docnos)) - 20
    assert topic.estimate is not None
    assert topic.estimate.relevant == pytest.approx(20 + 5 * in_sample)


def test_the_target_set_counts_documents_to_which_the_review_comes_again(session: Session) -> None:
    """A strategy that logs choices of documents of the sample, as of documents outside the pool."""
    one_run(session)
    docnos = draw(session, "1-200:0.5")
    labels(session, "jo", grades(docnos))
    build(session, PoolRequest("mtf", {"budget": 100, "start_depth": 0}), showing=Showing.SELECTION)
    adaptive = session.scalars(select(Pool).order_by(Pool.version.desc())).first()
    assert adaptive is not None
    topic_id = session.scalars(select(Topic.id)).one()
    items = {
        docno: id_
        for docno, id_ in session.execute(
            select(Document.docno, PoolItem.id).join(PoolItem, PoolItem.document_id == Document.id)
        )
    }
    positives = sorted(RELEVANT & set(docnos))
    for step, docno in enumerate(positives, start=1):
        session.add(
            SelectionEvent(
                pool_id=adaptive.id,
                topic_id=topic_id,
                step=step,
                pool_item_id=items[docno],
                seen_judgement_id=None,
                reason={"run": 1},
                chosen_at=NOW,
            )
        )
    session.flush()
    assert len(positives) >= 14
    answer = report(session).topics[0].answers["target-set"]
    assert (answer.state, answer.at) == (StoppingState.STOP, 100)
    assert not any("has not come to" in str(notice) for notice in report(session).notices)
    # One that is not judged any more is a gap: nothing after it counts.
    session.execute(delete(SelectionEvent).where(SelectionEvent.step > 5))
    session.flush()
    assert "has come to 5 of" in str(report(session).topics[0].answers["target-set"].reason)


def test_an_adaptive_pool_has_the_documents_of_its_runs_as_candidates(session: Session) -> None:
    one_run(session)
    build(session, PoolRequest("mtf", {"budget": 100, "start_depth": 10}))
    labels(session, "jo", grades(DOCNOS[:10]))
    [topic] = report(session).topics
    assert (topic.pooled, topic.candidates, topic.judged) == (10, 200, 10)


def test_a_corpus_from_which_is_learned_has_all_its_documents_as_candidates(session: Session) -> None:
    one_run(session)
    document_file(session, ["other"])
    build(session, PoolRequest("cal", {"budget": 5, "candidates": "corpus"}))
    [topic] = report(session).topics
    assert topic.candidates == len(DOCNOS) + 1


def test_topics_are_shown_in_pages_and_counted_over_all(session: Session) -> None:
    news(session)
    topic_file(session, "".join(f"{number}\ttopic\n" for number in range(1, TOPICS_A_PAGE + 3)))
    run(session, "alpha", {str(number): ["a", "b"] for number in range(1, TOPICS_A_PAGE + 3)})
    pool(session)
    labels(session, "jo", "".join(f"{number} 0 a 1\n" for number in range(1, TOPICS_A_PAGE + 3)))
    last = report(session, page=9)
    assert (last.page, last.pages, [one.number for one in last.topics]) == (2, 2, ["51", "52"])
    assert (last.judged, last.rules[0].topics) == (TOPICS_A_PAGE + 2, 2)
    assert len(report(session).topics) == TOPICS_A_PAGE + 2


def test_rules_are_summed_over_the_topics(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 1\n1 0 b 0\n1 0 c 0\n1 0 d 0\n2 0 a 1\n")
    found = report(session, settings=StoppingSettings(in_a_row=2), rules=("in-a-row",))
    [rule] = found.rules
    assert (rule.topics, rule.stops, rule.judged, rule.beyond) == (2, 1, 4, 1)
    headings, rows = found.table(StoppingPart.RULES)
    assert dict(zip(headings, rows[0], strict=True))["certainty"] == "heuristic"
    headings, rows = found.table(StoppingPart.TOPICS)
    assert [(row[0], row[headings.index("at")]) for row in rows] == [("1", 3), ("2", None)]


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        ({"topics": ("99",)}, NotFoundError),
        ({"rules": ("elbow",)}, InvalidValueError),
    ],
)
def test_unknown_topics_and_rules_are_named(session: Session, request_: dict[str, object], error: type) -> None:
    pooled_news(session)
    with pytest.raises(error, match=r"99|elbow"):
        report(session, **request_)


def test_a_decision_is_recorded_with_what_was_known_and_can_be_taken_back(session: Session) -> None:
    pooled_news(session)
    ola = user(session, "ola")
    labels(session, "jo", "1 0 a 1\n1 0 b 0\n")
    made = decide_topic(session, SLUG, "1", stops=True, reason=" few  left ", rule="knee", by_id=ola, at=NOW)
    assert (made.judged, made.relevant, made.recall, made.rule) == (2, 1, None, "knee")
    collection = find_collection(session, SLUG).id
    topic = session.scalars(select(Topic.id).where(Topic.number == "1")).one()
    assert stopped_topics(session, collection) == {topic}
    [decision] = report(session).stopped
    assert (decision.topic, decision.row.reason, decision.row.decided_by) == ("1", "few left", "ola")
    assert [one.is_stopped for one in report(session).topics] == [True, False]
    labels(session, "jo", "1 0 c 1\n")
    decide_topic(session, SLUG, "1", stops=False, reason="late run", by_id=None, at=NOW)
    assert stopped_topics(session, collection) == set()
    rows = report(session).table(StoppingPart.DECISIONS)[1]
    assert [row[:7] for row in rows] == [
        ["1", True, False, "knee", "few left", 2, 1],
        ["1", False, True, None, "late run", 3, 2],
    ]
    decide_topic(session, SLUG, "1", stops=True, reason="enough now", by_id=None, at=NOW)
    assert stopped_topics(session, collection) == {topic}
    assert report(session, topics=("2",)).decisions == ()


def test_a_decision_records_the_estimate_of_a_sample(session: Session) -> None:
    one_run(session)
    labels(session, "jo", grades(draw(session)))
    made = decide_topic(session, SLUG, "1", stops=True, reason="enough", by_id=None, at=NOW)
    estimate = report(session).topics[0].estimate
    assert estimate is not None
    assert (made.recall, made.recall_low, made.recall_high) == (estimate.recall, estimate.low, estimate.high)


def test_decisions_that_change_nothing_or_say_nothing_are_refused(session: Session) -> None:
    pooled_news(session)

    def decide(number: str = "1", *, stops: bool = True, reason: str = "enough", rule: str | None = None) -> None:
        decide_topic(session, SLUG, number, stops=stops, reason=reason, rule=rule, by_id=None, at=NOW)

    for reason in ("  ", "x" * (LONGEST_REASON + 1)):
        with pytest.raises(InvalidValueError):
            decide(reason=reason)
    with pytest.raises(InvalidValueError, match="elbow"):
        decide(rule="elbow")
    with pytest.raises(NotFoundError):
        decide("99")
    with pytest.raises(ConflictError, match="not stopped"):
        decide(stops=False)
    decide()
    with pytest.raises(ConflictError, match="stopped already"):
        decide()
    drop_topics(session, SLUG, ["2"], reason="bad")
    with pytest.raises(ConflictError, match="not accepted"):
        decide("2")
    assert set(RULES) >= {"knee"}


def test_an_adaptive_strategy_chooses_nothing_of_a_stopped_topic(session: Session) -> None:
    one_run(session)
    build(session, PoolRequest("mtf", {"budget": 100, "start_depth": 10}))
    memory = Memory()
    assert choices_left(session, SLUG, memory=memory) == {"1": 100}
    decide_topic(session, SLUG, "1", stops=True, reason="enough", by_id=None, at=NOW)
    assert choices_left(session, SLUG, memory=memory) == {"1": 0}
    decide_topic(session, SLUG, "1", stops=False, reason="a late run", by_id=None, at=NOW)
    assert choices_left(session, SLUG, memory=memory) == {"1": 100}
