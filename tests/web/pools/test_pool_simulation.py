"""Strategies simulated on the judgements of the collection, and the replay of adaptive choices, as a page."""

import pytest
from adaptive import AdaptiveJudge, adaptive_news
from build import SLUG, labels, member
from visiting import Visit, words
from worker.at_work import work

from annotator.storage import Database, Role
from annotator.workflows.pools import pool_replay


def test_strategies_are_compared_by_what_they_find_with_fewer_judgements(
    visit: Visit, news: str, database: Database
) -> None:
    ola = visit("ola")
    empty = ola.get(f"{news}/pool/simulation")
    assert (empty.status_code, "Nothing is judged yet" in words(empty)) == (200, True)
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 2\n1 0 b 0\n1 0 c 1\n2 0 e 1\n")
    page = words(ola.get(f"{news}/pool/simulation?strategy=depth&strategy=rrf"))
    assert "judged documents" in page
    assert "Share of the judgements (%) Documents Depth-k union of runs Reciprocal rank fusion" in page or (
        "Share of the judgements (%) Documents depth-k union of runs reciprocal rank fusion" in page
    )
    assert "Replay of the adaptive choices" not in page
    assert ola.get(f"{news}/pool/simulation?strategy=nothing").status_code == 422


def test_stopping_rules_are_tried_when_asked_for(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 2\n1 0 b 0\n1 0 c 1\n2 0 e 1\n")
    ola = visit("ola")
    address = f"{news}/pool/simulation?strategy=rrf"
    assert "Mean recall" not in words(ola.get(address))
    page = words(ola.get(f"{address}&stopping=1&target=0.7"))
    assert "how often recall 0.7 was reached" in page
    assert "knee heuristic" in page
    refused = ola.get(f"{address}&stopping=1&sample_share=2")
    assert (refused.status_code, "between 0 and 1, not 2.0" in words(refused)) == (422, True)


def test_a_long_replay_has_its_own_page_that_a_worker_makes(
    visit: Visit, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    jo, _ = adaptive_news(database, "cal", {"budget": 7, "start_depth": 1})
    with database.transaction() as session:
        member(session, "ola", Role.ORGANISER)
    AdaptiveJudge(database, jo).work()
    ola, pool = visit("ola"), f"/collections/{SLUG}/pool"
    sentence = "Version 1, continuous active learning: 7 choices of 1 topics repeated"
    assert sentence in words(ola.get(f"{pool}/simulation"))
    assert sentence in words(ola.get(f"{pool}/replay"))
    monkeypatch.setattr(pool_replay, "MOST_LEARNED_AT_ONCE", 6)
    page = words(ola.get(f"{pool}/simulation"))
    assert sentence not in page
    assert "Repeat the choices: a worker trains the classifier again" in page
    begun = ola.get(f"{pool}/replay")
    assert (begun.status_code, "/jobs/" in begun.headers["Location"]) == (303, True)
    work(database)
    assert sentence in words(ola.get(f"{pool}/replay"))


def test_without_an_adaptive_version_there_is_nothing_to_repeat(visit: Visit, news: str) -> None:
    answer = visit("ola").get(f"{news}/pool/replay")
    assert (answer.status_code, "No version of this pool was built by an adaptive strategy" in words(answer)) == (
        404,
        True,
    )
