"""The gate of a build pipeline. Expected values: P@1 by hand; the interval is that of `scipy.stats.ttest_rel`."""

from datetime import timedelta

import pytest
from build import NOW, SLUG, labels, news, pool, run, topic_file
from kept import Kept

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.storage import Database
from annotator.workflows.leaderboard.gate import Gate, SentTag, gate_run, newest_tag
from annotator.workflows.runs.runs import withdraw_run


@pytest.fixture
def judged(database: Database, kept: Kept) -> Database:
    """P@1 of three topics: alpha 1, 1, 0 and beta 1, 0, 0."""
    kept.fill(database, fill)
    return database


def fill(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        topic_file(session, "1\tone\n2\ttwo\n3\tthree\n")
        run(session, "alpha", {"1": ["a", "b"], "2": ["a", "b"], "3": ["b", "a"]})
        run(session, "beta", {"1": ["a", "b"], "2": ["b", "a"], "3": ["b"]})
        pool(session)
        labels(session, "nist", "".join(f"{topic} 0 a 1\n{topic} 0 b 0\n" for topic in "123"))


def gate(database: Database, baseline: str, run: str | None, measure: str = "P@1", max_drop: float = 0.0) -> Gate:
    return database.read(gate_run, SLUG, baseline, run, measure=measure, max_drop=max_drop)


def test_a_run_that_falls_below_the_baseline_does_not_pass(judged: Database) -> None:
    found = gate(judged, "alpha", "beta")
    assert [found.baseline_score, found.run_score, found.topics] == pytest.approx([2 / 3, 1 / 3, 3])
    assert found.difference == pytest.approx(-1 / 3)
    # ttest_rel([1, 0, 0], [1, 1, 0]).confidence_interval(): -1/3 ± 4.302652729911275 / 3.
    assert [found.low, found.high] == pytest.approx([-1.7675509099704, 1.1008842433038])
    assert not found.passes
    assert not gate(judged, "alpha", "beta", max_drop=0.33).passes
    assert gate(judged, "alpha", "beta", max_drop=1 / 3).passes
    assert gate(judged, "beta", "alpha").passes


def test_of_measures_of_which_less_is_better_a_rise_is_a_fall(judged: Database) -> None:
    found = gate(judged, "alpha", "beta", "FN")
    assert (found.less_is_better, found.difference > 0, found.passes) == (True, True, False)
    assert gate(judged, "beta", "alpha", "FN").passes


def test_the_newest_active_run_is_checked(judged: Database) -> None:
    assert gate(judged, "alpha", None).run == "beta"
    assert gate(judged, "beta", None).run == "alpha"
    with judged.transaction() as session:
        withdraw_run(session, SLUG, "beta", at=NOW)
    with pytest.raises(ConflictError, match="no run besides “alpha” to compare"):
        gate(judged, "alpha", None)


def test_of_runs_sent_together_the_last_in_natural_order_is_the_newest(judged: Database) -> None:
    with judged.transaction() as session:
        for tag in ("run10", "run9", "aaa"):
            run(session, tag, {"1": ["a"]})
    assert gate(judged, "alpha", None).run == "run10"
    sent = [SentTag(NOW, "run10"), SentTag(NOW, "run9"), SentTag(NOW - timedelta(microseconds=1), "z")]
    assert newest_tag(sent, besides="run10") == "run9"


def test_what_does_not_exist_is_refused(judged: Database) -> None:
    with pytest.raises(NotFoundError, match="gamma"):
        gate(judged, "gamma", "beta")
    with pytest.raises(InvalidValueError, match="nDGC"):
        gate(judged, "alpha", "beta", "nDGC")
