"""Released scores are those of a kept version of the qrels: nothing that comes later changes what teams see."""

import csv
from io import StringIO

import pytest
from build import SLUG, labels, member, run
from kept import Kept
from sqlalchemy import select
from visiting import Visit, words

from annotator.evaluation.qrels.scale import parse_scale
from annotator.storage import AuditEvent, Database, Role
from annotator.workflows.collections.collection import CollectionChange, change_collection, show_collection
from annotator.workflows.qrels.qrels_versions import list_versions

OTHER_GRADES = "Released scores are computed from version 1 of the qrels, kept on"


@pytest.fixture
def scored(news: str, database: Database, kept: Kept) -> str:
    """Red and blue have a run each; a is relevant, b is not; Obi observes."""
    kept.fill(database, add_grades)
    return news


def add_grades(database: Database) -> None:
    with database.transaction() as session:
        run(session, "reds", {"1": ["b", "a"]}, team="red")
        run(session, "blues", {"1": ["a", "b"]}, team="blue")
        labels(session, "nist", "1 0 a 1\n1 0 b 0\n")
        member(session, "obi", Role.OBSERVER)


def judge_more(database: Database) -> None:
    """Another judge contradicts the first, grades what nobody had graded, and the settings change."""
    with database.transaction() as session:
        labels(session, "kim", "1 0 a 0\n1 0 b 2\n1 0 c 1\n2 0 a 2\n")
        change = CollectionChange(
            consensus_policy="highest", scale=parse_scale("0=No,1=Partly,2=Yes,3=Perfectly"), relevant_from=2
        )
        change_collection(session, SLUG, change)


def kept(database: Database) -> tuple[list[int], int | None]:
    """The numbers of the versions, newest first, and the one that scores are released by."""
    with database.reading() as session:
        released = show_collection(session, SLUG).released_version
        numbers = [one.number for one in list_versions(session, SLUG)]
    return numbers, released and released.number


SEEN = [
    ("pat", "scores.csv"),
    ("pat", "scores.csv?table=topics&run=reds&m=nDCG@10"),
    ("pat", "leaderboard.csv?m=AP&m=ERR@10&m=nDCG@10"),
    ("pat", "costs.csv?m=AP"),
    ("obi", "leaderboard.csv?m=AP&m=ERR@10"),
    ("obi", "costs.csv?m=AP"),
]


def test_what_is_judged_or_set_after_the_release_changes_no_score_that_teams_see(
    visit: Visit, scored: str, database: Database
) -> None:
    ola = visit("ola")
    answer = ola.post(f"{scored}/release", shown="whole", early="y")
    assert answer.status_code == 303
    assert "They are computed from version 1 of the qrels, kept 20" in words(ola.get(f"{scored}/release"))
    seen = {(name, page): visit(name).get(f"{scored}/{page}").text for name, page in SEEN}
    organised = ola.get(f"{scored}/leaderboard.csv").text
    assert OTHER_GRADES not in words(ola.get(f"{scored}/leaderboard"))
    judge_more(database)
    assert {(name, page): visit(name).get(f"{scored}/{page}").text for name, page in SEEN} == seen
    assert ola.get(f"{scored}/leaderboard.csv").text != organised
    assert OTHER_GRADES in words(ola.get(f"{scored}/leaderboard"))
    assert OTHER_GRADES not in words(ola.get(f"{scored}/leaderboard?qrels=1"))
    (line,) = csv.DictReader(StringIO(seen["pat", "scores.csv"]))
    assert (line["run"], line["qrels"]) == ("reds", "1")
    for name, page in (("pat", "scores"), ("pat", "leaderboard"), ("obi", "leaderboard"), ("pat", "costs?m=AP")):
        shown = words(visit(name).get(f"{scored}/{page}"))
        assert "Scored against version 1 of the qrels, kept 20" in shown
        assert "policy: majority" in shown
    assert "qrels=1" in visit("obi").get(f"{scored}/leaderboard").text


def test_live_scores_follow_the_grades_and_say_so(visit: Visit, scored: str, database: Database) -> None:
    assert visit("ola").post(f"{scored}/release", early="y", qrels="live").status_code == 303
    assert kept(database) == ([], None)
    before = visit("pat").get(f"{scored}/scores.csv").text
    judge_more(database)
    assert visit("pat").get(f"{scored}/scores.csv").text != before
    assert "Scored against the live qrels" in words(visit("pat").get(f"{scored}/scores"))
    assert "The scores are live" in words(visit("ola").get(f"{scored}/release"))
    assert "Released scores are computed" not in words(visit("ola").get(f"{scored}/leaderboard"))


def test_the_same_grades_are_kept_once_and_a_release_keeps_its_version_until_another_is_chosen(
    visit: Visit, scored: str, database: Database
) -> None:
    ola = visit("ola")
    release = f"{scored}/release"
    ola.post(release, early="y")
    assert kept(database) == ([1], 1)
    ola.post(f"{scored}/release/take-back")
    assert kept(database) == ([1], None)
    ola.post(release, early="y")
    ola.post(release, shown="own", early="y", qrels="new")
    assert kept(database) == ([1], 1)
    judge_more(database)
    ola.post(release, shown="whole", early="y")
    assert kept(database) == ([1], 1)
    ola.post(release, shown="whole", early="y", qrels="new")
    assert kept(database) == ([2, 1], 2)
    assert '<option selected value="2"' in ola.get(f"{scored}/release").text
    ola.post(release, shown="whole", early="y", qrels="1")
    assert kept(database) == ([2, 1], 1)
    with database.reading() as session:
        events = session.scalars(select(AuditEvent).order_by(AuditEvent.id)).all()
        noted = [
            (one.action, one.subject, one.details.get("qrels"))
            for one in events
            if one.action.startswith(("scores", "qrels"))
        ]
    assert noted[:3] == [("qrels.keep", "1", None), ("scores.release", "", 1), ("scores.take-back", "", None)]
    assert noted[-3:] == [("qrels.keep", "2", None), ("scores.release", "", 2), ("scores.release", "", 1)]


@pytest.mark.parametrize(
    ("chosen", "sentence"),
    [
        ("7", "There is no version 7 of these qrels."),
        ("soon", "“soon” is neither the number of a version nor “live”."),
    ],
)
def test_a_release_by_a_version_that_there_is_not_is_refused(
    visit: Visit, scored: str, database: Database, chosen: str, sentence: str
) -> None:
    answer = visit("ola").post(f"{scored}/release", early="y", qrels=chosen)
    assert answer.status_code == 422
    assert sentence in words(answer)
    with database.reading() as session:
        assert show_collection(session, SLUG).scores_released_at is None


def test_without_a_grade_there_is_no_version_to_release_scores_by(visit: Visit, news: str, database: Database) -> None:
    answer = visit("ola").post(f"{news}/release", early="y")
    assert answer.status_code == 409
    assert "Nothing is judged yet, so there are no qrels to keep for the released scores." in words(answer)
    with database.reading() as session:
        assert show_collection(session, SLUG).scores_released_at is None


def test_an_observer_sees_live_scores_until_the_release(visit: Visit, scored: str, database: Database) -> None:
    visit("ola").post(f"{scored}/release", early="y", moment="2999-01-01 00:00")
    assert kept(database) == ([1], 1)
    assert "Scored against the live qrels" in words(visit("obi").get(f"{scored}/leaderboard"))
    assert "The scores are not shown yet" in words(visit("pat").get(f"{scored}/scores"))
