"""Observers: they read every result, and learn the name of no judge and nothing of the files of runs."""

import re
from html import unescape

import pytest
from access_matrix import FOR_OBSERVERS, MATRIX
from build import NOW, SLUG, labels, member, news, pool, run, topic_file
from kept import Kept
from sqlalchemy.orm import Session
from visiting import Visit, Visitor, words

from annotator.storage import Database, Role
from annotator.workflows.collections import collection
from annotator.workflows.collections.collection import CollectionChange
from annotator.workflows.qrels import qrels, qrels_versions

N = f"/collections/{SLUG}"
# Names that stand in no page by themselves.
JUDGES = ("xenocrates", "yggdrasil")
# What opens for every member and is no result.
OTHERS = ("", "/guidelines")
PARTS = (
    *("/agreement.csv?by=topic", "/agreement.csv?by=grade", "/agreement.csv?by=all"),
    *("/quality.csv?by=topics", "/quality/leave-out.csv?by=runs", "/significance.csv?by=runs&m=AP"),
    *("/leaderboard/pair?first=alpha&second=beta", "/leaderboard/pair.csv?first=alpha&second=beta&table=topics"),
    *(
        "/significance?qrels=1",
        "/correlation?qrels=1",
        "/correlation.csv?qrels=1",
        "/leaderboard/run?tag=alpha&qrels=1",
    ),
    *("/leaderboard.csv?m=AP", "/leaderboard?letters=y", "/report.html?qrels=1"),
    # What organisers choose has no effect.
    *(f"/leaderboard?judge={JUDGES[0]}", f"/qrels/file?judge={JUDGES[1]}", "/leaderboard/run?tag=alpha&policy=highest"),
)


@pytest.fixture
def observed(database: Database, kept: Kept) -> str:
    """Two judges, of whom one alone counts; Oli observes."""
    kept.fill(database, add_observed)
    return N


def add_observed(database: Database) -> None:
    with database.transaction() as session:
        fill(session)


def fill(session: Session) -> None:
    news(session, judgements_wanted=2)
    topic_file(session)
    run(session, "alpha", {"1": ["a", "b", "c"], "2": ["a"]}, team="red")
    run(session, "beta", {"1": ["d", "b", "a"], "2": ["e"]}, team="blue")
    pool(session)
    labels(session, JUDGES[0], "1 0 a 1\n1 0 b 0\n1 0 c 2\n1 0 d 0\n2 0 a 1\n2 0 e 0\n")
    labels(session, JUDGES[1], "1 0 a 0\n1 0 b 0\n1 0 c 1\n1 0 d 1\n2 0 a 1\n2 0 e 1\n", name="other.txt")
    # A person may judge under the very name that a policy, a file or an answer could give away.
    collection.change_collection(session, SLUG, CollectionChange(consensus_policy=f"judge:{JUDGES[0]}"))
    made = qrels.export_qrels(session, SLUG, made_at=NOW)
    qrels_versions.keep_qrels(session, SLUG, made, made_by_id=None, made_at=NOW)
    member(session, "oli", Role.OBSERVER)
    member(session, "ola", Role.ORGANISER)


def pages() -> list[str]:
    """Every page and file that an observer opens, and parts of them."""
    paths = [MATRIX[endpoint].path for endpoint in sorted(FOR_OBSERVERS)]
    return [*(f"{N}{path}" for path in (*OTHERS, *PARTS)), *paths]


def test_an_observer_learns_no_name_of_a_judge(visit: Visit, observed: str) -> None:
    oli, ola = visit("oli"), visit("ola")
    told = {path: oli.get(path).text for path in pages()}
    asked = {path: text.replace(unescape(path), "") for path, text in told.items()}
    named = [(path, name) for path, text in asked.items() for name in JUDGES if name in without_own_address(text)]
    assert named == []
    # They would be found if they stood there.
    assert JUDGES[0] in ola.get(f"{observed}/leaderboard").text
    assert JUDGES[0] in ola.get(f"{observed}/agreement").text
    assert JUDGES[0] in ola.get(f"{observed}/significance.csv?by=runs&m=AP").text


def without_own_address(text: str) -> str:
    """The page without the address that was asked for, which the switch of languages repeats."""
    return re.sub(r'name="next" value="[^"]*"', "", text)


def test_an_observer_reads_the_results_before_they_are_released(visit: Visit, observed: str) -> None:
    oli = visit("oli")
    board = oli.get(f"{observed}/leaderboard?m=AP")
    assert board.status_code == 200
    assert "alpha" in words(board)
    assert "policy: one judge." in words(board)
    assert oli.get(f"{observed}/leaderboard.csv?m=AP").text.count("\n") == 3
    assert oli.get(f"{observed}/qrels/file").text.splitlines()[0] == "1 0 a 1"
    assert "Krippendorff" in words(oli.get(f"{observed}/agreement"))


def test_what_names_judges_is_refused_to_an_observer(visit: Visit, observed: str) -> None:
    oli = visit("oli")
    for path in ("/agreement.csv?by=pair", "/agreement.csv?by=judge", "/qrels/manifest", "/judges", "/members"):
        assert oli.get(f"{observed}{path}").status_code == 403, path


def test_the_files_of_runs_are_refused_to_an_observer(visit: Visit, observed: str) -> None:
    oli = visit("oli")
    for path in ("/runs", "/runs/file?tag=alpha", "/runs/receipt?tag=alpha", "/runs/run?tag=alpha", "/pool.txt"):
        assert oli.get(f"{observed}{path}").status_code == 403, path


def test_no_link_leads_an_observer_to_a_refusal(visit: Visit, observed: str) -> None:
    oli = visit("oli")
    seen: dict[str, int] = {}
    follow(oli, observed, seen)
    assert {path: status for path, status in seen.items() if status >= 400} == {}
    assert len(seen) > 20


def follow(visitor: Visitor, path: str, seen: dict[str, int]) -> None:
    """Open a page and whatever of the collection it links to, each path once, however it is asked for."""
    page = visitor.get(path)
    seen[path.partition("?")[0]] = page.status_code
    if page.mimetype == "text/html" and "attachment" not in page.headers.get("Content-Disposition", ""):
        for link in map(unescape, re.findall(r'href="([^"#]*)', page.text)):
            if link.startswith(N) and link.partition("?")[0] not in seen:
                follow(visitor, link, seen)
