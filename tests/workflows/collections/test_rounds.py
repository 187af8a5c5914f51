"""Rounds: whose runs come when, what a later pool is made from, and scores with what was known taken out or not."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from random import Random

import pytest
import pytrec_eval
from build import NOW, SLUG, build, checked_run, document_file, labels, news, pool, pooled_news, run, stored, topic_file
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, FileRefusedError, NotFoundError
from annotator.evaluation.leaderboard.leaderboard import Leaderboard
from annotator.evaluation.runs.run_tags import Sender
from annotator.storage import Document, PoolItem, Topic
from annotator.storage.pools.pools import PoolRequest
from annotator.storage.runs.runs import RunDetails
from annotator.workflows.collections import rounds
from annotator.workflows.leaderboard import leaderboard
from annotator.workflows.leaderboard.grade_sources import GradesFrom
from annotator.workflows.leaderboard.score_cache import ScoreCache
from annotator.workflows.pools.pool_planning import plan_pool
from annotator.workflows.qrels import qrels, qrels_versions
from annotator.workflows.runs import run_upload, runs

LATER = NOW + timedelta(days=7)
OFFICIAL = {"AP": "map", "P@5": "P_5", "nDCG@10": "ndcg_cut_10", "Rprec": "Rprec"}


def close(session: Session) -> int:
    """Keep the qrels and close the round."""
    made = qrels.export_qrels(session, SLUG, made_at=LATER)
    version = qrels_versions.keep_or_reuse(session, SLUG, made, made_by_id=None, made_at=LATER)
    return rounds.close_round(session, SLUG, version=version, at=LATER)


def second_round(session: Session) -> None:
    """Round 1 judged a, b of topic 1; round 2 is open, without a run yet."""
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n1 0 b 0\n")
    close(session)
    rounds.open_round(session, SLUG, name="second", at=LATER)


def board(session: Session, number: int, *, residual: bool, cache: ScoreCache | None = None) -> Leaderboard:
    grades = GradesFrom(round=number, residual=residual)
    return leaderboard.build_leaderboard(session, SLUG, tuple(OFFICIAL), grades=grades, cache=cache)


def pooled(session: Session) -> set[tuple[str, str]]:
    """Topic number and docno of every pool item."""
    rows = session.execute(
        select(Topic.number, Document.docno)
        .join(PoolItem, PoolItem.topic_id == Topic.id)
        .join(Document, Document.id == PoolItem.document_id)
    )
    return {(number, docno) for number, docno in rows}


def test_a_collection_without_rounds_sees_nothing_of_them(session: Session) -> None:
    pooled_news(session)
    assert rounds.list_rounds(session, SLUG) == []
    assert {one.round for one in runs.list_runs(session, SLUG)} == {None}
    assert pool(session).is_new is False
    labels(session, "jo", "1 0 a 2\n")
    with pytest.raises(NotFoundError, match="There is no round 1"):
        board(session, 1, residual=True)


def test_closing_keeps_the_qrels_and_opening_lets_new_runs_in(session: Session) -> None:
    second_round(session)
    run(session, "gamma", {"1": ["d"]})
    first, second = rounds.list_rounds(session, SLUG)
    assert (first.number, first.runs, first.version, first.closed_at) == (1, 2, 1, LATER)
    assert (second.name, second.runs, second.is_open, second.judged_before) == ("second", 1, True, 2)
    assert {one.tag: one.round for one in runs.list_runs(session, SLUG)} == {"alpha": 1, "beta": 1, "gamma": 2}
    with pytest.raises(ConflictError, match="Round 2 is open"):
        rounds.open_round(session, SLUG, at=LATER)
    close(session)
    with pytest.raises(ConflictError, match="closed already"):
        close(session)
    with pytest.raises(ConflictError, match="the next one is not open"):
        run(session, "delta", {"1": ["d"]})


def test_a_late_run_goes_to_the_round_that_is_named(session: Session) -> None:
    second_round(session)
    late = checked_run(session, "late", {"1": ["c"]})
    run_upload.store_runs(session, SLUG, late, details=RunDetails(round=1), uploaded_by_id=None, uploaded_at=LATER)
    runs.change_run(session, SLUG, "alpha", details=RunDetails(round=2), at=NOW)
    assert {one.tag: one.round for one in runs.list_runs(session, SLUG)} == {"alpha": 2, "beta": 1, "late": 1}
    with pytest.raises(NotFoundError, match="There is no round 3"):
        runs.change_run(session, SLUG, "alpha", details=RunDetails(round=3), at=NOW)


def test_a_corrected_run_stays_in_its_round_and_teams_correct_none_of_a_closed_one(session: Session) -> None:
    news(session)
    topic_file(session)
    run(session, "alpha", {"1": ["a"]}, team="red")
    labels(session, "jo", "1 0 a 2\n", add_to_pool=True)
    close(session)
    rounds.open_round(session, SLUG, at=LATER)
    team = Sender("red", organises=False, replaces=True)
    with pytest.raises(FileRefusedError) as refusal:
        checked_run(session, "alpha", {"1": ["b"]}, sender=team)
    assert "of a round that is closed" in str(refusal.value.problems[0])
    organiser = Sender(None, organises=True, replaces=True)
    stored(session, checked_run(session, "alpha", {"1": ["b"]}, sender=organiser))
    assert [one.round for one in runs.list_runs(session, SLUG)] == [1]


def test_a_pool_is_made_of_its_rounds_runs_and_looks_past_what_was_judged(session: Session) -> None:
    second_round(session)
    run(session, "gamma", {"1": ["b", "a", "x", "y", "z"]})
    before = pooled(session)
    request = PoolRequest("depth", {"depth": 2})
    plan = plan_pool(session, SLUG, request)
    assert plan.asked is not None
    assert plan.total.added[plan.asked] == 2
    assert build(session, request).added == 2
    # b and a were judged in round 1, so the first two that are left are x and y.
    assert pooled(session) - before == {("1", "x"), ("1", "y")}
    with pytest.raises(ConflictError, match="is not of round 2"):
        build(session, PoolRequest("depth", {"depth": 2}, ["alpha"]))
    build(session, PoolRequest("depth", {"depth": 3}, ["alpha"], round=1))
    build(session, PoolRequest("depth", {"depth": 5}, every_round=True))
    assert ("1", "z") in pooled(session)


def test_residual_and_whole_scores_are_told_apart(session: Session) -> None:
    second_round(session)
    run(session, "gamma", {"1": ["a", "b", "d", "c"]})
    labels(session, "kim", "1 0 c 1\n1 0 d 0\n")
    residual, whole = board(session, 2, residual=True), board(session, 2, residual=False)
    # Residual: gamma is d c, of which c is relevant: AP 1/2. Whole: a b d c with a and c relevant: (1/1 + 2/4) / 2.
    assert [(row.tag, row.values[0]) for row in residual.rows] == [("gamma", 0.5)]
    assert [(row.tag, row.values[0]) for row in whole.rows] == [("gamma", 0.75)]
    assert (residual.source, whole.source) == ("live, round 2, residual", "live, round 2, whole")
    assert "2 documents of topics that were judged before" in str(residual.notices[0])
    assert residual.fingerprint != whole.fingerprint
    assert (residual.grades, whole.grades) == (2, 4)
    assert "live, round 2, residual" in leaderboard.leaderboard_csv(residual)
    assert {row.tag for row in board(session, 1, residual=True).rows} == {"alpha", "beta"}


def without(lists: Mapping[str, Sequence[str]], known: set[tuple[str, str]]) -> dict[str, dict[str, float]]:
    """Scores by topic and docno of what is left of a run, as pytrec_eval takes them."""
    return {
        topic: {docno: float(-place) for place, docno in enumerate(docnos) if (topic, docno) not in known}
        for topic, docnos in lists.items()
    }


@pytest.mark.parametrize("seed", range(3))
def test_residual_scores_are_those_of_pytrec_eval_on_files_without_what_was_judged(session: Session, seed: int) -> None:
    chance = Random(seed)  # noqa: S311 - it makes up runs
    docnos = [f"d{number:02}" for number in range(30)]
    news(session)
    topic_file(session, "1\tone\n2\ttwo\n3\tthree\n")
    document_file(session, docnos)
    sent = {f"r{place}": {str(topic): chance.sample(docnos, 15) for topic in (1, 2, 3)} for place in range(6)}
    for tag in ("r0", "r1", "r2"):
        run(session, tag, sent[tag])
    pool(session, depth=5)
    first = {pair: chance.randrange(3) for pair in sorted(pooled(session))}
    labels(session, "jo", "".join(f"{topic} 0 {docno} {grade}\n" for (topic, docno), grade in first.items()))
    close(session)
    rounds.open_round(session, SLUG, at=LATER)
    for tag in ("r3", "r4", "r5"):
        run(session, tag, sent[tag])
    pool(session, depth=5)
    second = {pair: chance.randrange(3) for pair in sorted(pooled(session) - first.keys())}
    labels(session, "jo", "".join(f"{topic} 0 {docno} {grade}\n" for (topic, docno), grade in second.items()), name="2")
    left: dict[str, dict[str, int]] = {}
    for (topic, docno), grade in second.items():
        left.setdefault(topic, {})[docno] = grade
    official = pytrec_eval.RelevanceEvaluator(left, {"map", "P_5", "ndcg_cut_10", "Rprec"})
    shown = board(session, 2, residual=True)
    assert {row.tag for row in shown.rows} == {"r3", "r4", "r5"}
    for row in shown.rows:
        expected = official.evaluate(without(sent[row.tag], set(first)))
        for topic in shown.topics:
            assert row.by_topic[topic] == pytest.approx([expected[topic][name] for name in OFFICIAL.values()])
        # Of the first five of what is left, all are judged: the pool looked past what was judged before.
        assert row.judged[1] == 1


def test_a_memory_tells_rounds_apart_and_follows_what_is_judged(session: Session) -> None:
    second_round(session)
    run(session, "gamma", {"1": ["a", "b", "d", "c"]})
    labels(session, "kim", "1 0 c 1\n")
    cache = ScoreCache()
    for said in ("1 0 d 0\n", "1 0 d 2\n", "2 0 a 1\n"):
        labels(session, "kim", said, name=said)
        for number in (1, 2):
            for residual in (True, False):
                assert board(session, number, residual=residual, cache=cache) == board(
                    session, number, residual=residual
                )


def test_a_version_is_scored_by_the_round_too(session: Session) -> None:
    second_round(session)
    run(session, "gamma", {"1": ["a", "b", "d", "c"]})
    labels(session, "kim", "1 0 c 1\n")
    close(session)
    labels(session, "kim", "1 0 d 2\n", name="more")
    grades = GradesFrom(version=2, round=2, residual=True)
    shown = leaderboard.build_leaderboard(session, SLUG, ["AP"], grades=grades)
    assert (shown.source, shown.grades, shown.rows[0].values) == ("2, round 2, residual", 1, (0.5,))
    nothing = GradesFrom(version=1, round=2, residual=True)
    with pytest.raises(ConflictError, match="All judgements were made before round 2"):
        leaderboard.build_leaderboard(session, SLUG, ["AP"], grades=nothing)
