"""Who found what, and each team left out, from what is stored."""

import pytest
from build import NOW, SLUG, document_file, labels, member, news, pool, run, topic_file
from sqlalchemy import update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError
from annotator.evaluation.leaderboard.collection_figures import Missing
from annotator.storage import Role, Run
from annotator.workflows.documents.search_adding import add_found
from annotator.workflows.leaderboard.leave_out_report import SEARCHES, By, LeaveOutRequest, Part, leave_out_report

P2 = LeaveOutRequest(("P@2",))


def two_teams(session: Session, *, judged: str = "1 0 a 1\n1 0 b 1\n1 0 c 1\n1 0 d 0\n") -> None:
    """One topic. red-1 → a b, red-2 → a d, blue → a c: b and d are red's alone, c is blue's."""
    news(session)
    topic_file(session, "1\tfirst topic\n")
    document_file(session, ["a", "b", "c", "d", "e"])
    run(session, "red-1", {"1": ["a", "b"]}, team="red")
    run(session, "red-2", {"1": ["a", "d"]}, team="red")
    run(session, "blue", {"1": ["a", "c"]}, team="blue")
    pool(session, depth=2)
    labels(session, "jo", judged, add_to_pool=True)


def test_who_found_what_is_counted_by_team(session: Session) -> None:
    two_teams(session)
    report = leave_out_report(session, SLUG, P2)
    # Source, pooled, judged, relevant, of these its alone, share of the three relevant ones.
    assert report.table(Part.SOURCES)[1] == [
        ["red", True, 3, 2, 2, 1, pytest.approx(1 / 3)],
        ["blue", True, 2, 2, 1, 1, pytest.approx(1 / 3)],
    ]
    assert report.found.relevant_by_sources == (0, 2, 1)


def test_a_run_loses_what_only_its_team_found(session: Session) -> None:
    two_teams(session)
    report = leave_out_report(session, SLUG, P2)
    rows = {row[1]: row[4:] for row in report.table(Part.RUNS)[1]}
    # Score, score without, change, relative change, place, place without, places lost. Without red, b and d are
    # unjudged: red-1 has a alone. Without blue, c is: it has a alone.
    assert rows["red-1"] == [1.0, 0.5, -0.5, -0.5, 1, 2, 1]
    assert rows["red-2"] == [0.5, 0.5, 0.0, 0.0, 3, 2, -1]
    assert rows["blue"] == [1.0, 0.5, -0.5, -0.5, 1, 2, 1]
    [result] = report.results
    assert result.shares.mean.value == pytest.approx((0.5 + 0 + 0.5) / 3)
    assert [row[1:4] for row in report.table(Part.WITHOUT)[1]] == [["red", 2, 1], ["blue", 1, 1]]


def test_only_runs_that_were_pooled_themselves_count_as_having_contributed(session: Session) -> None:
    two_teams(session)
    # Sent later: a run of a pooled team, and a team of which nothing is pooled.
    run(session, "red-3", {"1": ["c", "d"]}, team="red")
    run(session, "green", {"1": ["a", "c"]}, team="green")
    for request in (P2, LeaveOutRequest(("P@2",), By.RUN)):
        report = leave_out_report(session, SLUG, request)
        [result] = report.results
        assert {run.tag: run.fed for run in result.runs} == {
            "red-1": True,
            "red-2": True,
            "blue": True,
            "red-3": False,
            "green": False,
        }
        fed = [run.relative_change.value for run in result.runs if run.fed]
        assert result.shares.mean.value == pytest.approx(sum(abs(change or 0) for change in fed) / 3)
    pooled = {one.source: one.pooled for one in leave_out_report(session, SLUG, P2).found.sources}
    assert pooled == {"red": True, "blue": True, "green": False}
    as_if = leave_out_report(session, SLUG, LeaveOutRequest(("P@2",), depth=2))
    assert all(run.fed for run in as_if.results[0].runs)
    assert all(one.pooled for one in as_if.found.sources)


def test_each_run_can_be_left_out_by_itself(session: Session) -> None:
    two_teams(session)
    report = leave_out_report(session, SLUG, LeaveOutRequest(("P@2", "AP"), By.RUN))
    assert [one.source for one in report.found.sources] == ["red-1", "red-2", "blue"]
    assert [str(result.measure) for result in report.results] == ["P@2", "AP"]


def test_a_run_of_no_team_is_not_the_team_of_its_name(session: Session) -> None:
    two_teams(session)
    run(session, "red", {"1": ["e"]})
    pool(session, depth=2)
    labels(session, "jo", "1 0 e 1\n", name="e.txt")
    found = leave_out_report(session, SLUG, P2).found
    assert [(one.source, one.judged) for one in found.sources] == [("red", 3), ("blue", 2), ("red", 1)]


def test_what_a_withdrawn_run_found_is_still_its_teams(session: Session) -> None:
    two_teams(session)
    session.execute(update(Run).where(Run.tag == "blue").values(withdrawn_at=NOW))
    report = leave_out_report(session, SLUG, P2)
    assert [one.source for one in report.found.sources] == ["red", "blue"]
    assert [run.tag for run in report.results[0].runs] == ["red-1", "red-2"]


def test_what_people_found_by_searching_is_a_source_of_its_own(session: Session) -> None:
    two_teams(session)
    ola = member(session, "ola", Role.ORGANISER)
    add_found(session, SLUG, topic="1", docnos=["e"], query="text", actor_id=ola, at=NOW)
    labels(session, "jo", "1 0 e 1\n", name="e.txt")
    found = leave_out_report(session, SLUG, P2).found
    assert (found.sources[-1].source, found.sources[-1].only_relevant) == (SEARCHES, 1)


def test_the_pool_can_be_taken_for_shallower_than_it_is(session: Session) -> None:
    two_teams(session)
    report = leave_out_report(session, SLUG, LeaveOutRequest(("P@2",), depth=1))
    # All begin with a, which then nobody has alone.
    assert [one.only_judged for one in report.found.sources] == [0, 0]
    assert {run.change for run in report.results[0].runs} == {0.0}


def test_labels_without_a_pool_say_nothing(session: Session) -> None:
    news(session)
    topic_file(session)
    run(session, "alpha", {"1": ["a"]}, team="red")
    labels(session, "jo", "1 0 a 1\n", add_to_pool=True)
    [result] = leave_out_report(session, SLUG, P2).results
    assert result.reason is Missing.NO_POOL


def test_one_team_alone_says_nothing(session: Session) -> None:
    news(session)
    topic_file(session)
    run(session, "alpha", {"1": ["a"]}, team="red")
    pool(session)
    labels(session, "jo", "1 0 a 1\n")
    [result] = leave_out_report(session, SLUG, P2).results
    assert (result.reason, result.shares.mean.value) == (Missing.ONE_SOURCE, None)


def test_what_cannot_be_asked_is_refused(session: Session) -> None:
    news(session)
    topic_file(session)
    with pytest.raises(ConflictError, match="Nothing is judged yet"):
        leave_out_report(session, SLUG)
    labels(session, "jo", "1 0 a 1\n", add_to_pool=True)
    with pytest.raises(ConflictError, match="no run to score"):
        leave_out_report(session, SLUG)
    with pytest.raises(InvalidValueError, match="must be 1 or more, not 0"):
        leave_out_report(session, SLUG, LeaveOutRequest(depth=0))
    with pytest.raises(InvalidValueError, match="nDGC"):
        leave_out_report(session, SLUG, LeaveOutRequest(("nDGC",)))
    with pytest.raises(InvalidValueError, match="12 measures at a time"):
        leave_out_report(session, SLUG, LeaveOutRequest(("all_trec",)))
