"""What systems cost: stated with a run or later, kept over corrections, asked for by organisers."""

from datetime import timedelta

import pytest
from beginning import beginning
from build import NOW, SLUG, checked_run, labels, member, news, pooled_news, run, stored, topic_file
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.evaluation.costs.report import Question
from annotator.evaluation.costs.statements import Statement
from annotator.evaluation.runs.run_tags import Sender
from annotator.storage import FactColumn, Role, RunFact
from annotator.workflows.collections.collection import close_collection
from annotator.workflows.collections.next_collection import copy_collection
from annotator.workflows.leaderboard import costs
from annotator.workflows.leaderboard.leaderboard import build_leaderboard
from annotator.workflows.runs import run_costs, runs
from annotator.workflows.runs.run_costs import ColumnRequest

PRICE = ColumnRequest("price", "Price of a day", "number", "EUR", "less")
LATER = NOW + timedelta(days=1)


@pytest.fixture(autouse=True)
def collection(session: Session) -> None:
    """Two runs, alpha and beta, and a grade of each topic."""
    add_grades(session)


@beginning
def add_grades(session: Session) -> None:
    pooled_news(session)
    labels(session, "nist", "1 0 a 2\n1 0 d 0\n2 0 a 1\n")


def stated(session: Session, tag: str = "alpha", team: str | None = None) -> dict[str, object]:
    return {
        one.address: one.words if one.number is None else one.number
        for one in run_costs.costs_of_run(session, SLUG, tag, team=team).statements
    }


def moments(session: Session) -> dict[str, object]:
    return {fact: at for fact, at in session.execute(select(RunFact.fact, RunFact.stated_at))}


def state(
    session: Session, tag: str = "alpha", team: str | None = None, by_id: int | None = None, **written: str
) -> None:
    told = {address.replace("__", "@"): text for address, text in written.items()}
    run_costs.change_costs(session, SLUG, tag, told, at=NOW, by_id=by_id, team=team)


def test_what_is_stated_of_a_run_is_kept(session: Session) -> None:
    state(session, latency_p95="0.05 s", latency_at__1e6="35", hardware="8 cores", query_language="Phrase, Boolean")
    assert stated(session) == {
        "latency_p95": 50,
        "latency_at@1000000": 35,
        "hardware": "8 cores",
        "query_language": "boolean, phrase",
    }
    assert stated(session, "beta") == {}


def test_what_is_changed_takes_the_place_of_what_was_stated_and_the_rest_stays(session: Session) -> None:
    state(session, latency_p95="50", latency_at__1000000="35", hardware="8 cores")
    run_costs.change_costs(session, SLUG, "alpha", {"latency_p95": "40", "latency_at@1e6": ""}, at=LATER)
    assert stated(session) == {"latency_p95": 40, "hardware": "8 cores"}
    assert moments(session) == {"latency_p95": LATER, "hardware": NOW}


def test_what_is_replaced_is_gone(session: Session) -> None:
    state(session, latency_p95="50", hardware="8 cores")
    run_costs.replace_costs(session, SLUG, "alpha", [Statement("index_size", number=1200)], at=LATER)
    assert stated(session) == {"index_size": 1200}
    run_costs.replace_costs(session, SLUG, "alpha", [], at=LATER)
    assert stated(session) == {}


@pytest.mark.parametrize(
    ("written", "error", "said"),
    [
        ({"speed": "1"}, NotFoundError, "“speed” is no fact that is stated here"),
        ({"latency_p95": "fast"}, InvalidValueError, "“fast” is no number of ms"),
        ({"latency_p50": "60"}, InvalidValueError, "is above the 95th percentile"),
        ({"price": "3"}, NotFoundError, "“price” is no fact"),
    ],
)
def test_what_is_refused_changes_nothing(
    session: Session, written: dict[str, str], error: type[Exception], said: str
) -> None:
    state(session, latency_p95="50")
    with pytest.raises(error, match=said):
        run_costs.change_costs(session, SLUG, "alpha", {"hardware": "8 cores", **written}, at=NOW)
    assert stated(session) == {"latency_p95": 50}


def test_a_team_states_costs_of_its_own_runs_alone(session: Session) -> None:
    run(session, "gamma", {"1": ["e"]}, team="red")
    people = {
        team: member(session, name, Role.PARTICIPANT, team=team) for team, name in {"red": "pat", "blue": "bea"}.items()
    }
    state(session, "gamma", team="red", by_id=people["red"], latency_p95="50")
    assert stated(session, "gamma", team="red") == {"latency_p95": 50}
    for team, tag in (("red", "alpha"), ("blue", "gamma")):
        with pytest.raises(NotFoundError, match=f"There is no run “{tag}”"):
            state(session, tag, team=team, by_id=people[team], latency_p95="1")
        with pytest.raises(NotFoundError, match=f"There is no run “{tag}”"):
            stated(session, tag, team=team)


def test_a_closed_collection_takes_no_costs_and_no_columns(session: Session) -> None:
    close_collection(session, SLUG)
    with pytest.raises(ConflictError, match="closed"):
        state(session, latency_p95="50")
    with pytest.raises(ConflictError, match="closed"):
        run_costs.add_column(session, SLUG, PRICE, at=NOW)


def test_what_comes_with_a_correction_stands_and_what_else_was_stated_stays(session: Session) -> None:
    state(session, latency_p95="50", hardware="8 cores")
    state(session, "beta", latency_p95="70")
    corrected = checked_run(session, "alpha", {"1": ["b"]}, sender=Sender(None, organises=True, replaces=True))
    stored(session, corrected)
    assert stated(session) == {"latency_p95": 50, "hardware": "8 cores"}
    run_costs.state_with_runs(session, SLUG, ["alpha"], [Statement("latency_p95", number=40)], at=LATER)
    assert stated(session) == {"latency_p95": 40, "hardware": "8 cores"}
    assert stated(session, "beta") == {"latency_p95": 70}


def test_nothing_stated_with_runs_changes_nothing(session: Session) -> None:
    state(session, hardware="8 cores")
    run_costs.state_with_runs(session, SLUG, ["alpha", "beta"], [], at=LATER)
    assert stated(session) == {"hardware": "8 cores"}


def test_a_column_of_the_organisers_is_stated_like_the_others(session: Session) -> None:
    run_costs.add_column(session, SLUG, PRICE, at=NOW)
    run_costs.add_column(session, SLUG, ColumnRequest("licence", "Licence", "words"), at=NOW)
    assert [fact.key for fact in run_costs.list_facts(session, SLUG) if fact.is_own] == ["price", "licence"]
    state(session, price="12.50 EUR", licence="MIT")
    assert stated(session) == {"price": 12.5, "licence": "MIT"}


def test_a_column_is_added_once(session: Session) -> None:
    run_costs.add_column(session, SLUG, PRICE, at=NOW)
    with pytest.raises(ConflictError, match="There is a column “price” already"):
        run_costs.add_column(session, SLUG, PRICE, at=NOW)


def test_there_are_twenty_columns_at_most(session: Session) -> None:
    for number in range(20):
        run_costs.add_column(session, SLUG, ColumnRequest(f"column_{number}", f"Column {number}"), at=NOW)
    with pytest.raises(ConflictError, match="at most 20 columns"):
        run_costs.add_column(session, SLUG, PRICE, at=NOW)


def test_a_column_goes_when_no_run_states_it_any_more(session: Session) -> None:
    run_costs.add_column(session, SLUG, PRICE, at=NOW)
    state(session, price="12", hardware="8 cores")
    with pytest.raises(ConflictError, match=r"Runs state “price”: alpha \(1 in all\)"):
        run_costs.remove_column(session, SLUG, "price")
    corrected = checked_run(session, "alpha", {"1": ["b"]}, sender=Sender(None, organises=True, replaces=True))
    stored(session, corrected)
    state(session, price="")
    run_costs.remove_column(session, SLUG, "price")
    # Not of the file that was corrected either, where nobody can take it back.
    assert session.scalars(select(RunFact.fact)).all() == ["hardware", "hardware"]
    with pytest.raises(NotFoundError, match="There is no column “price”"):
        run_costs.remove_column(session, SLUG, "price")


def test_a_column_of_another_collection_is_none_here(session: Session) -> None:
    news(session, "other")
    topic_file(session, slug="other")
    run(session, "alpha", {"1": ["a"]}, slug="other")
    run_costs.add_column(session, "other", PRICE, at=NOW)
    run_costs.change_costs(session, "other", "alpha", {"price": "3"}, at=NOW)
    with pytest.raises(NotFoundError, match="“price” is no fact"):
        state(session, price="3")
    run_costs.add_column(session, SLUG, PRICE, at=NOW)
    run_costs.remove_column(session, SLUG, "price")
    assert [one.address for one in run_costs.costs_of_run(session, "other", "alpha").statements] == ["price"]


def test_next_years_collection_asks_the_same(session: Session) -> None:
    run_costs.add_column(session, SLUG, PRICE, at=NOW)
    copy_collection(session, SLUG, "next", title=None, with_documents=False, at=LATER)
    assert run_costs.list_facts(session, "next") == run_costs.list_facts(session, SLUG)
    assert session.scalars(select(FactColumn.added_at)).all() == [NOW, LATER]


def test_the_report_has_every_run_in_force_beside_its_score(session: Session) -> None:
    run(session, "gamma", {"1": ["e"]}, team="red")
    state(session, latency_p95="50")
    state(session, "beta", latency_p95="20")
    board = build_leaderboard(session, SLUG, ["P@1"])
    report = costs.build_costs(session, SLUG, board)
    # P@1: alpha has the relevant a first for both topics, beta for none, gamma for none.
    assert [(row.run.tag, row.run.team, row.value, row.cost, row.is_on_front) for row in report.rows] == [
        ("alpha", None, 1.0, 50, True),
        ("beta", None, 0.0, 20, True),
        ("gamma", "red", 0.0, None, False),
    ]
    runs.withdraw_run(session, SLUG, "beta", at=LATER)
    report = costs.build_costs(session, SLUG, board, Question(within="50 ms"))
    assert [row.run.tag for row in report.rows] == ["alpha"]
    assert (report.over, report.silent) == (0, 1)


def test_the_report_leaves_out_runs_that_came_too_late(session: Session) -> None:
    state(session, latency_p95="50")
    assert costs.build_costs(session, SLUG, None, before=NOW).rows == ()
    assert len(costs.build_costs(session, SLUG, None, before=LATER).rows) == 2
