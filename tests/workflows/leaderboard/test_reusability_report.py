"""Whether the collection is good, from what is stored."""

import pytest
from build import SLUG, labels, news, pool, pooled_news, run, topic_file
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError
from annotator.evaluation.leaderboard.collection_figures import Missing
from annotator.workflows.leaderboard.reusability_report import QualityRequest, ReusabilityPart, quality_report

P1 = QualityRequest("P@1")


def deep_pool(session: Session) -> None:
    """One topic, two runs of four documents, all judged: new relevant ones at depths 1 to 4 are 2, 1, 0 and 1."""
    news(session)
    topic_file(session, "1\tfirst topic\n")
    run(session, "alpha", {"1": ["a", "b", "c", "d"]})
    run(session, "beta", {"1": ["e", "f", "g", "h"]})
    pool(session, depth=4)
    right = "aefd"
    labels(session, "jo", "".join(f"1 0 {docno} {int(docno in right)}\n" for docno in "abcdefgh"))


def test_each_topic_has_its_relevant_share(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 1\n1 0 b 0\n1 0 c 0\n1 0 d 0\n")
    report = quality_report(session, SLUG, P1, to_come={"2": 5})
    # Topic, pooled, judged, waiting, relevant, share, too many, too few. Of topic 2 seven wait: two, and five to come.
    assert report.table(ReusabilityPart.TOPICS)[1] == [
        ["1", 4, 4, 0, 1, 0.25, False, True],
        ["2", 2, 0, 7, 0, None, False, False],
    ]
    assert (report.runs, report.fed) == (2, 2)


def test_a_topic_with_two_fifths_relevant_is_flagged(session: Session) -> None:
    deep_pool(session)
    report = quality_report(session, SLUG, P1)
    assert (report.density.share.value, report.density.flagged) == (0.5, ("1",))


def test_relevant_documents_are_counted_by_depth_and_the_curve_goes_on(session: Session) -> None:
    deep_pool(session)
    report = quality_report(session, SLUG, P1)
    assert [row[:3] for row in report.table(ReusabilityPart.DEPTHS)[1]] == [[1, 2, 2], [2, 1, 3], [3, 0, 3], [4, 1, 4]]
    assert [row[0] for row in report.table(ReusabilityPart.DEEPER)[1]] == [8, 20, 40]
    assert report.growth.extrapolations[0].interval_reason is Missing.ONE_TOPIC


def test_a_pool_with_a_gap_is_only_as_deep_as_what_is_judged(session: Session) -> None:
    deep_pool(session)
    run(session, "gamma", {"1": ["a", "z"]})
    assert len(quality_report(session, SLUG, P1).growth.new) == 4  # gamma fed no pool
    pool(session, depth=2)
    report = quality_report(session, SLUG, P1)
    assert (len(report.growth.new), report.growth.exponent.reason) == (1, Missing.FEW_DEPTHS)


def test_fewer_judgements_are_only_tried_when_wanted(session: Session) -> None:
    deep_pool(session)
    fewer = quality_report(session, SLUG, P1)
    assert fewer.ablation is not None
    assert [row[:2] for row in fewer.table(ReusabilityPart.FEWER)[1]][:2] == [[0.9, 7], [0.8, 6]]
    less = quality_report(session, SLUG, QualityRequest("P@1", ablates=False))
    assert (less.ablation, less.table(ReusabilityPart.FEWER)[1]) == (None, [])


def test_without_runs_only_the_topics_are_told(session: Session) -> None:
    news(session)
    topic_file(session)
    labels(session, "jo", "1 0 a 1\n1 0 b 0\n", add_to_pool=True)
    report = quality_report(session, SLUG, P1)
    assert (report.density.share.value, report.ablation, report.growth.new) == (0.5, None, ())
    assert report.growth.exponent.reason is Missing.FEW_DEPTHS


def test_nothing_relevant_is_said(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 0\n1 0 b 0\n1 0 c 0\n1 0 d 0\n")
    report = quality_report(session, SLUG, P1)
    assert report.density.share.value == 0
    assert report.growth.exponent.reason is Missing.NOTHING_RELEVANT
    assert report.ablation is not None
    assert report.ablation.steps[0].tau.reason is Missing.NO_ORDER


def test_what_cannot_be_asked_is_refused(session: Session) -> None:
    pooled_news(session)
    with pytest.raises(ConflictError, match="Nothing is judged yet"):
        quality_report(session, SLUG)
    with pytest.raises(InvalidValueError, match="nDGC"):
        quality_report(session, SLUG, QualityRequest("nDGC"))
    with pytest.raises(InvalidValueError, match="A seed"):
        quality_report(session, SLUG, QualityRequest(seed=-1))
