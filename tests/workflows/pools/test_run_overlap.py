"""Overlap of the tops of stored runs, and the relevant documents of each team."""

import pytest
from build import NOW, SLUG, labels, news, pool, run, topic_file
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError
from annotator.workflows.pools.run_overlap import MOST_RUNS_SHOWN, overlap_report
from annotator.workflows.runs.runs import withdraw_run


def prepared(session: Session) -> None:
    """Two runs of red and one without a team; the top two of each are pooled."""
    news(session)
    topic_file(session)
    run(session, "red1", {"1": ["a", "b", "c"]}, team="red")
    run(session, "red2", {"1": ["a", "c", "d"]}, team="red")
    run(session, "lone", {"1": ["x", "y", "a"]})
    pool(session, 2)


def test_the_share_of_common_documents_among_the_top_is_counted(session: Session) -> None:
    prepared(session)
    report = overlap_report(session, SLUG, 2)
    share = {
        (report.tags[row], report.tags[column]): value
        for row, values in enumerate(report.shares)
        for column, value in enumerate(values)
    }
    # Of two documents each, a is common to both of red's; x and y are the third's alone.
    assert (share["red1", "red2"], share["red1", "lone"], share["red1", "red1"]) == (0.5, 0.0, 1.0)
    assert report.closest is not None
    assert ({report.closest.first, report.closest.second}, report.closest.share) == ({"red1", "red2"}, 0.5)
    assert (report.depth, report.runs) == (2, 3)


def test_a_team_is_credited_with_what_it_contributed_and_found(session: Session) -> None:
    prepared(session)
    labels(session, "nist", "1 0 a 1\n1 0 b 0\n1 0 c 1\n1 0 x 1\n1 0 y 0\n")
    teams = {one.team: one for one in overlap_report(session, SLUG).teams}
    assert overlap_report(session, SLUG).relevant == 3
    red, lone = teams["red"], teams["lone"]
    # Red pooled a, b and c; the run without a team pooled x and y, and found a below the pool.
    assert (red.runs, red.contributed, red.relevant_contributed, red.relevant_found, red.found_alone) == (2, 3, 2, 2, 1)
    assert (lone.runs, lone.contributed, lone.relevant_contributed, lone.relevant_found) == (1, 2, 1, 2)


def test_withdrawn_runs_do_not_count(session: Session) -> None:
    prepared(session)
    withdraw_run(session, SLUG, "lone", at=NOW)
    assert set(overlap_report(session, SLUG).tags) == {"red1", "red2"}


def test_at_most_forty_runs_are_shown_unless_all_are_asked_for(session: Session) -> None:
    news(session)
    topic_file(session)
    for number in range(MOST_RUNS_SHOWN + 2):
        run(session, f"r{number}", {"1": ["a", f"d{number}"]}, team="big" if number else "small")
    report = overlap_report(session, SLUG)
    assert (len(report.tags), report.runs) == (MOST_RUNS_SHOWN, MOST_RUNS_SHOWN + 2)
    assert "r0" in report.tags  # the teams take turns
    assert len(overlap_report(session, SLUG, with_all=True).tags) == MOST_RUNS_SHOWN + 2


def test_depths_out_of_range_and_collections_without_runs_are_refused(session: Session) -> None:
    news(session)
    topic_file(session)
    for depth in (0, 1001):
        with pytest.raises(InvalidValueError, match="A depth is from 1 to"):
            overlap_report(session, SLUG, depth)
    with pytest.raises(ConflictError, match="There is no run yet"):
        overlap_report(session, SLUG)
