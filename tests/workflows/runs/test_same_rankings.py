"""Runs that rank the same documents in the same order as another team's."""

from collections.abc import Mapping, Sequence

from build import NOW, SLUG, news, run, topic_file
from sqlalchemy import select, update
from sqlalchemy.orm import Session
from tasks import task

from annotator.storage import Run
from annotator.workflows.runs import runs

RANKING = {"1": ["a", "b"], "2": ["c"]}


def same(session: Session, slug: str = SLUG) -> Mapping[str, Sequence[str]]:
    tags = {id_: tag for id_, tag in session.execute(select(Run.id, Run.tag))}
    return {tags[id_]: others for id_, others in runs.rankings_sent_twice(session, slug).items()}


def test_runs_of_other_teams_with_the_same_ranking_are_found_whatever_their_tags(session: Session) -> None:
    news(session)
    topic_file(session)
    run(session, "one", RANKING, team="red")
    run(session, "two", RANKING, team="blue")
    run(session, "three", RANKING)
    run(session, "four", RANKING)
    assert same(session) == {
        "one": ("two", "three", "four"),
        "two": ("one", "three", "four"),
        "three": ("one", "two", "four"),
        "four": ("one", "two", "three"),
    }


def test_another_order_another_topic_and_runs_of_one_team_are_no_copies(session: Session) -> None:
    news(session)
    topic_file(session)
    run(session, "one", RANKING, team="red")
    run(session, "again", RANKING, team="red")
    run(session, "order", {"1": ["b", "a"], "2": ["c"]}, team="blue")
    run(session, "last", {"1": ["a", "b"], "2": ["d"]}, team="blue")
    run(session, "fewer", {"1": ["a", "b"]}, team="green")
    run(session, "elsewhere", {"1": ["a"], "2": ["b", "c"]}, team="green")
    assert same(session) == {}


def test_only_runs_in_force_of_the_collection_count(session: Session) -> None:
    for slug in (SLUG, "other"):
        news(session, slug)
        topic_file(session, slug=slug)
    run(session, "one", RANKING, team="red")
    run(session, "two", RANKING, team="blue")
    run(session, "two", RANKING, slug="other", team="blue")
    assert same(session, "other") == {}
    runs.withdraw_run(session, SLUG, "two", at=NOW)
    session.flush()
    assert same(session) == {}
    runs.restore_run(session, SLUG, "two", at=NOW)
    session.execute(update(Run).where(Run.tag == "one").values(replaced_at=NOW))
    assert same(session) == {}


def test_a_run_is_compared_within_its_task(session: Session) -> None:
    news(session)
    topic_file(session)
    for number, team in enumerate(("red", "blue", "green", "grey")):
        run(session, f"run-{number}", RANKING, team=team)
    task(session, "one", runs=["run-0", "run-1"])
    task(session, "two", runs=["run-2"])
    assert same(session) == {"run-0": ("run-1",), "run-1": ("run-0",)}
