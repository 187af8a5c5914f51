"""The runs ranked by two measures and by two states of the qrels, from what is stored."""

import pytest
from build import NOW, SLUG, labels, news, pooled_news, run, topic_file
from csv_cells import unquoted
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.evaluation.leaderboard.collection_figures import Missing
from annotator.workflows.leaderboard.measure_correlation import Side, correlate, correlation_csv
from annotator.workflows.qrels import qrels, qrels_versions


def three_runs(session: Session) -> None:
    """One topic; a and b are relevant. P@1: x 1, y 0, w 0. R@2: x 1/2, y 1/2, w 0."""
    news(session)
    topic_file(session, "1\tfirst topic\n")
    run(session, "w", {"1": ["q", "z"]})
    run(session, "x", {"1": ["a", "z"]})
    run(session, "y", {"1": ["z", "b"]})
    labels(session, "jo", "1 0 a 1\n1 0 b 1\n1 0 z 0\n", add_to_pool=True)


def test_two_measures_rank_the_runs(session: Session) -> None:
    three_runs(session)
    found = correlate(session, SLUG, Side("P@1"), Side("R@2"))
    assert [(run.tag, run.first, run.second, run.first_place, run.second_place) for run in found.runs] == [
        ("x", 1, 0.5, 1, 1),
        ("w", 0, 0, 2, 3),
        ("y", 0, 0.5, 2, 1),
    ]
    # Three pairs: x-w agree, x-y is tied in the second, w-y in the first: 1 / sqrt(2 * 2).
    assert found.tau.value == pytest.approx(0.5)
    assert unquoted(correlation_csv(found)).splitlines()[1] == "x,1.0,0.5,1,1,P@1,live,majority,3,R@2,live,majority,3"


def test_two_states_of_the_qrels_are_compared(session: Session) -> None:
    three_runs(session)
    kept = qrels.export_qrels(session, SLUG, made_at=NOW)
    qrels_versions.keep_qrels(session, SLUG, kept, made_by_id=None, made_at=NOW)
    labels(session, "jo", "1 0 a 0\n1 0 z 1\n1 0 q 0\n", add_to_pool=True, name="later.txt")
    found = correlate(session, SLUG, Side("P@1", "1"), Side("P@1"))
    assert (found.first.state.name, found.first.state.grades, found.second.state.grades) == ("1", 3, 4)
    assert {run.tag: (run.first, run.second) for run in found.runs} == {"w": (0, 0), "x": (1, 0), "y": (0, 1)}
    assert found.tau.value == pytest.approx(-0.5)


def test_the_same_ranking_twice_is_wholly_alike(session: Session) -> None:
    three_runs(session)
    found = correlate(session, SLUG, Side("P@1"), Side("P@1"))
    assert (found.tau.value, found.similarity.tau_ap, found.similarity.rbo) == pytest.approx((1, 1, 1))


def test_without_an_order_the_reason_is_given(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 b 1\n")
    assert correlate(session, SLUG, Side("P@1"), Side("AP")).tau.reason is Missing.NO_ORDER


@pytest.mark.parametrize(
    ("second", "refusal"),
    [(Side("nDGC"), InvalidValueError), (Side("AP", "7"), NotFoundError), (Side("AP", "old"), InvalidValueError)],
)
def test_what_there_is_not_is_refused(session: Session, second: Side, refusal: type[Exception]) -> None:
    three_runs(session)
    with pytest.raises(refusal):
        correlate(session, SLUG, Side("AP"), second)


def test_without_a_grade_or_a_run_there_is_nothing_to_rank(session: Session) -> None:
    news(session)
    topic_file(session)
    with pytest.raises(ConflictError, match="Nothing is judged yet"):
        correlate(session, SLUG)
    labels(session, "jo", "1 0 a 1\n", add_to_pool=True)
    with pytest.raises(ConflictError, match="no run to score"):
        correlate(session, SLUG)
