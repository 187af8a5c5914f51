"""A closer look at a run, a topic and two runs, from what is stored; counted by hand."""

from collections.abc import Callable
from hashlib import sha256

import pytest
from beginning import beginning
from build import NOW, SLUG, labels, member, news, pooled_news, run, topic_file
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.errors import AnnotatorError, ConflictError, InvalidValueError, NotFoundError
from annotator.evaluation.inspection.one_run import UnjudgedDocument
from annotator.evaluation.significance.results import Undefined
from annotator.storage import Collection, Contribution, Document, Pool, PoolItem, Topic, TopicState
from annotator.workflows.leaderboard.inspecting import (
    GradesChosen,
    inspect_pair,
    inspect_run,
    inspect_topic,
    inspect_topics,
)
from annotator.workflows.qrels import qrels_versions
from annotator.workflows.qrels.qrels import export_qrels
from annotator.workflows.runs import runs

# Of topic 1 a and d are relevant and c is unjudged; of topic 2 e is, and a is unjudged.
JUDGED = "1 0 a 2\n1 0 b 0\n1 0 d 1\n2 0 e 1\n"


@pytest.fixture
def judged(session: Session) -> Session:
    """A session over two judged runs."""
    judged_news(session)
    return session


@beginning
def judged_news(session: Session) -> None:
    """Alpha returned a b c and a, beta d b a and e; by P@1 alpha has 1 and 0, beta 1 and 1."""
    pooled_news(session)
    labels(session, "jo", JUDGED)


def id_of(session: Session, docno: str) -> int:
    return session.scalars(select(Document.id).where(Document.docno == docno)).one()


def test_a_run_stands_beside_the_others_on_every_topic(judged: Session) -> None:
    found = inspect_run(judged, SLUG, "alpha", measure="P@1")
    look = found.look
    assert (look.mean, look.place, found.choices.tags) == (0.5, 2, ("alpha", "beta"))
    assert [(bar.topic, bar.value, bar.median, bar.best, bar.place) for bar in look.bars] == [
        ("1", 1, 1, 1, 1),
        ("2", 0, 0.5, 1, 2),
    ]
    assert (look.missed.not_returned, look.missed.nothing_found, look.missed.none_known) == ((), ("2",), ())


def test_what_of_a_run_is_unjudged_is_listed_to_a_rank(judged: Session) -> None:
    found = inspect_run(judged, SLUG, "alpha", top=3)
    a, c = id_of(judged, "a"), id_of(judged, "c")
    assert found.look.unjudged == (UnjudgedDocument("1", 3, c), UnjudgedDocument("2", 1, a))
    assert found.look.unjudged_in == {"1": 1, "2": 1}
    assert found.docnos.items() >= {a: "a", c: "c"}.items()
    # Two of three documents of topic 1, and none of topic 2.
    assert found.look.judged_share == pytest.approx((2 / 3 + 0) / 2)
    assert [one.document for one in inspect_run(judged, SLUG, "alpha", top=2).look.unjudged] == [a]


def test_the_list_of_one_topic_has_its_grades(judged: Session) -> None:
    found = inspect_run(judged, SLUG, "alpha", topic="1", top=3)
    assert [(one.rank, found.docnos[one.document], one.grade) for one in found.listed] == [
        (1, "a", 2),
        (2, "b", 0),
        (3, "c", None),
    ]


def test_the_curve_of_a_run_is_the_mean_over_topics_beside_the_median_of_all_runs(judged: Session) -> None:
    # Alpha finds one of two relevant documents, at rank 1; trec_eval rounds 0.7 x 2 to one document, 0.8 x 2 to two.
    # Beta finds both, at ranks 1 and 3, and the one of topic 2 first.
    curve = inspect_run(judged, SLUG, "alpha").look.curve
    assert [point.precision for point in curve] == [0.5] * 8 + [0] * 3
    assert [point.median for point in curve] == pytest.approx([0.75] * 8 + [(2 / 3 + 1) / 4] * 3)


def test_the_curve_of_one_topic_has_its_points(judged: Session) -> None:
    look = inspect_run(judged, SLUG, "beta").look
    assert (look.raw_topic, look.raw.recall, look.raw.precision) == ("1", (0.5, 1.0), (1.0, 2 / 3))
    assert inspect_run(judged, SLUG, "beta", topic="2").look.raw.recall == (1.0,)
    # Of alpha topic 2 has no point, so that topic 1 is shown unless another is asked for.
    assert inspect_run(judged, SLUG, "alpha", topic="2").look.raw.recall == ()


def test_the_scores_of_a_run_are_counted_by_what_its_documents_are(judged: Session) -> None:
    bars = inspect_run(judged, SLUG, "alpha").look.distribution
    # 999 a, 998 b, 997 c of topic 1, and 999 a of topic 2.
    assert (bars.edges[0], bars.edges[-1]) == (997, 999)
    assert (sum(bars.relevant), sum(bars.not_relevant), sum(bars.unjudged)) == (1, 1, 2)
    assert (bars.relevant[-1], bars.unjudged[0], bars.unjudged[-1]) == (1, 1, 1)


def test_the_state_of_the_grades_is_that_of_the_qrels(judged: Session) -> None:
    state = inspect_run(judged, SLUG, "alpha").choices.state
    exported = export_qrels(judged, SLUG, made_at=NOW).qrels
    assert state.fingerprint == sha256(exported).hexdigest()[:12]
    assert (state.policy, state.grades, state.topics, state.topics_left_out) == ("majority", 4, 2, 0)


def test_disputed_documents_stay_out_where_the_collection_leaves_them_out(judged: Session) -> None:
    labels(judged, "kim", "1 0 a 0\n", name="kim.txt")
    judged.execute(update(Collection).values(leaves_out_disputed=True))
    found = inspect_run(judged, SLUG, "alpha")
    assert found.choices.state.grades == 3
    assert [one.rank for one in found.look.unjudged] == [1, 3, 1]


def test_runs_can_be_looked_at_by_a_kept_version_a_judge_or_a_policy(judged: Session) -> None:
    kept = export_qrels(judged, SLUG, made_at=NOW)
    qrels_versions.keep_qrels(judged, SLUG, kept, made_by_id=None, made_at=NOW)
    labels(judged, "kim", "1 0 a 0\n2 0 a 2\n", name="kim.txt")
    by = {
        name: inspect_run(judged, SLUG, "alpha", measure="P@1", grades=grades)
        for name, grades in {
            "live": GradesChosen(),
            "kept": GradesChosen("1"),
            "kim": GradesChosen(judge="kim"),
            "highest": GradesChosen(policy="highest"),
        }.items()
    }
    # Settled by the majority, the lower of two grades, a of topic 1 is not relevant any more, and a of topic 2 is.
    assert {name: found.look.mean for name, found in by.items()} == {"live": 0.5, "kept": 0.5, "kim": 0.5, "highest": 1}
    assert [bar.value for bar in by["kept"].look.bars] == [1, 0]
    assert [bar.value for bar in by["kim"].look.bars] == [0, 1]
    states = {name: found.choices.state for name, found in by.items()}
    assert [(state.source, state.policy, state.grades) for state in states.values()] == [
        ("live", "majority", 5),
        ("1", "majority", 4),
        ("kim", None, 2),
        ("live", "highest", 5),
    ]
    assert states["kept"].fingerprint == sha256(kept.qrels).hexdigest()[:12]


def test_one_judge_named_by_a_policy_is_heard_alone_and_has_nothing_in_dispute(judged: Session) -> None:
    labels(judged, "kim", "1 0 a 0\n", name="kim.txt")
    judged.execute(update(Collection).values(leaves_out_disputed=True))
    for grades in (GradesChosen(judge="kim"), GradesChosen(policy="judge:kim")):
        state = inspect_run(judged, SLUG, "alpha", grades=grades).choices.state
        assert (state.grades, state.topics) == (1, 1)
    with pytest.raises(NotFoundError, match="nobody"):
        inspect_run(judged, SLUG, "alpha", grades=GradesChosen(policy="judge:nobody"))


def test_topics_are_ranked_by_how_hard_they_are(judged: Session) -> None:
    found = inspect_topics(judged, SLUG, measure="P@1")
    assert [(one.topic, one.median.value, one.place) for one in found.difficulties] == [("2", 0.5, 1), ("1", 1, 2)]


def test_a_topic_tells_who_found_its_relevant_documents(judged: Session) -> None:
    a, d = id_of(judged, "a"), id_of(judged, "d")
    found = inspect_topic(judged, SLUG, "1", measure="P@1")
    assert [(one.ranked.tag, one.ranked.value, one.ranked.place) for one in found.look.runs] == [
        ("alpha", 1, 1),
        ("beta", 1, 1),
    ]
    assert [(one.document, one.grade, one.runs, one.best_rank) for one in found.look.found.documents] == [
        (a, 2, ("alpha", "beta"), 1),
        (d, 1, ("beta",), 1),
    ]
    assert (found.look.judged, found.look.found.by_grade, found.docnos) == (3, {2: 1, 1: 1}, {a: "a", d: "d"})
    # A run without a team is one of its own; among the first of each run, alpha alone has a.
    assert found.look.found.unique == {"beta": 1}
    assert inspect_topic(judged, SLUG, "1", depth=1).look.found.unique == {"alpha": 1, "beta": 1}


def test_who_found_a_document_by_searching_is_named(judged: Session) -> None:
    a, kim = id_of(judged, "a"), member(judged, "kim")
    item = judged.scalars(select(PoolItem).where(PoolItem.document_id == a).order_by(PoolItem.topic_id)).first()
    assert item is not None
    pool = judged.scalars(select(Pool.id)).one()
    for query in ("cats", "cat"):
        judged.add(Contribution(pool_item_id=item.id, pool_id=pool, searched_by_id=kim, query=query))
    judged.flush()
    assert inspect_topic(judged, SLUG, "1").searchers == {a: ("kim",)}
    assert inspect_topic(judged, SLUG, "2").searchers == {}


def test_two_runs_are_compared_the_second_less_the_first(judged: Session) -> None:
    look = inspect_pair(judged, SLUG, "alpha", "beta", measures=["P@1", "AP"]).look
    p1, ap = look.by_measure
    assert (p1.measure, p1.first, p1.second, ap.measure) == ("P@1", 0.5, 1.0, "AP")
    assert [(one.topic, one.difference) for one in p1.differences.topics] == [("2", 1), ("1", 0)]
    # Differences 0 and 1: their mean is 1/2 with a standard error of 1/2, so that t is 1 with one degree of
    # freedom, of which the two-sided p is 1/2; each of the two flips is as large.
    assert p1.tests.t.difference.value == 0.5
    assert p1.tests.t.statistic.value == pytest.approx(1)
    assert p1.tests.t.p.value == pytest.approx(0.5)
    assert (p1.tests.randomisation.p.value, p1.tests.randomisation.is_exact) == (1, True)
    assert (p1.tests.signs.better, p1.tests.signs.worse) == (1, 0)
    turned = inspect_pair(judged, SLUG, "beta", "alpha", measures=["P@1"]).look.by_measure[0]
    assert (turned.tests.t.difference.value, turned.tests.signs.better) == (-0.5, 0)


def test_documents_that_one_run_has_high_are_those_of_the_topic_with_the_widest_difference(judged: Session) -> None:
    found = inspect_pair(judged, SLUG, "alpha", "beta", measures=["P@1"], topics=[])
    [moved] = found.look.moved
    rows = [(found.docnos[one.document], one.grade, one.first_rank, one.second_rank) for one in moved.documents]
    assert (moved.topic, rows) == ("2", [("a", None, 1, None), ("e", 1, None, 1)])
    every = inspect_pair(judged, SLUG, "alpha", "beta").look.moved
    assert [moved.topic for moved in every] == ["1", "2"]


def test_equal_runs_are_said_to_be_equal(judged: Session) -> None:
    run(judged, "gamma", {"1": ["a", "b", "c"], "2": ["a"]})
    one = inspect_pair(judged, SLUG, "alpha", "gamma").look.by_measure[0]
    assert (one.tests.t.p.reason, one.tests.randomisation.p.reason) == (Undefined.NO_DIFFERENCE,) * 2


def test_one_topic_is_too_few_for_a_test(judged: Session) -> None:
    judged.execute(update(Topic).where(Topic.number == "2").values(state=TopicState.DROPPED))
    one = inspect_pair(judged, SLUG, "alpha", "beta").look.by_measure[0]
    assert (one.tests.topics, one.tests.t.p.reason) == (1, Undefined.ONE_TOPIC)


def test_one_run_alone_can_be_looked_at(session: Session) -> None:
    news(session)
    topic_file(session)
    run(session, "alpha", {"1": ["a"]}, team="red")
    labels(session, "jo", "1 0 a 0\n", add_to_pool=True)
    found = inspect_run(session, SLUG, "alpha")
    assert (found.team, found.look.place, found.look.missed.none_known) == ("red", 1, ("1",))
    assert found.look.raw.levels is None
    assert inspect_topic(session, SLUG, "1").look.difficulty.deviation.value is None


@pytest.mark.parametrize(
    ("look", "refusal", "words"),
    [
        (lambda session: inspect_run(session, SLUG, "nope"), NotFoundError, "no run “nope”"),
        (lambda session: inspect_run(session, SLUG, "beta"), ConflictError, "beta is withdrawn"),
        (lambda session: inspect_run(session, SLUG, "alpha", measure="nDGC"), InvalidValueError, "nDGC"),
        (lambda session: inspect_run(session, SLUG, "alpha", top=0), InvalidValueError, "from 1 to 1000, not 0"),
        (lambda session: inspect_run(session, SLUG, "alpha", topic="7"), NotFoundError, "Topic “7” is not scored"),
        (lambda session: inspect_topics(session, SLUG, grades=GradesChosen("7")), NotFoundError, "no version 7"),
        (lambda session: inspect_topics(session, SLUG, grades=GradesChosen("x")), InvalidValueError, "neither"),
        (lambda session: inspect_topics(session, SLUG, grades=GradesChosen(judge="x")), NotFoundError, "no user “x”"),
        (lambda session: inspect_topics(session, SLUG, grades=GradesChosen(policy="x")), InvalidValueError, "x"),
        (lambda session: inspect_topic(session, SLUG, "2"), NotFoundError, "Topic “2” is not scored"),
        (lambda session: inspect_topic(session, SLUG, "1", depth=2000), InvalidValueError, "not 2000"),
        (lambda session: inspect_pair(session, SLUG, "alpha", "alpha"), InvalidValueError, "compared with itself"),
        (lambda session: inspect_pair(session, SLUG, "alpha", "beta"), ConflictError, "beta is withdrawn"),
        (lambda session: inspect_pair(session, SLUG, "alpha", "gamma", seed=-1), InvalidValueError, "not -1"),
    ],
)
def test_what_cannot_be_looked_at_is_said(
    session: Session, look: Callable[[Session], object], refusal: type[AnnotatorError], words: str
) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n")
    runs.withdraw_run(session, SLUG, "beta", at=NOW, by_id=None)
    with pytest.raises(refusal, match=words):
        look(session)


def test_before_a_judgement_and_before_a_run_there_is_nothing_to_see(session: Session) -> None:
    news(session)
    topic_file(session)
    with pytest.raises(ConflictError, match="Nothing is judged yet"):
        inspect_topics(session, SLUG)
    labels(session, "jo", "1 0 a 1\n", add_to_pool=True)
    with pytest.raises(ConflictError, match="no run to score"):
        inspect_topics(session, SLUG)
