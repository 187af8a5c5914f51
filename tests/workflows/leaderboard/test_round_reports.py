"""Significance, quality and closer looks at the runs of one round: the values of its leaderboard, of grades left."""

import numpy as np
import pytest
from beginning import beginning
from build import NOW, SLUG, build, document_file, labels, news, run, topic_file
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError
from annotator.storage.pools.pools import PoolRequest
from annotator.workflows.collections import collection, rounds
from annotator.workflows.collections.collection import CollectionChange
from annotator.workflows.leaderboard import inspecting, leaderboard
from annotator.workflows.leaderboard.grade_sources import GradesFrom
from annotator.workflows.leaderboard.inspecting import GradesChosen
from annotator.workflows.leaderboard.reusability_report import QualityRequest, ReusabilityPart, quality_report
from annotator.workflows.leaderboard.score_cache import ScoreCache
from annotator.workflows.leaderboard.significance_report import SignificanceRequest, significance_report
from annotator.workflows.qrels import qrels, qrels_versions

TOPICS = ("1", "2", "3")
DOCNOS = [f"d{number:02}" for number in range(30)]


@pytest.fixture
def two_rounds(session: Session) -> Session:
    """Two rounds of three runs, each pooled as a sample and judged; version 1 of the qrels closed the first."""
    add_two_rounds(session)
    return session


@beginning
def add_two_rounds(session: Session) -> None:
    news(session)
    topic_file(session, "".join(f"{number}\ttopic\n" for number in TOPICS))
    document_file(session, DOCNOS)
    chance = np.random.default_rng(7)
    for number in (1, 2):
        rounds.open_round(session, SLUG, at=NOW)
        for place in range(3):
            lists = {topic: chance.permutation(DOCNOS)[:15].tolist() for topic in TOPICS}
            run(session, f"round{number}-{place}", lists)
        build(session, PoolRequest("stratified", {"strata": "1-3:1, 4-9:0.5"}), seed=number)
        made = "".join(
            f"{topic} 0 {docno} {chance.integers(3)}\n" for topic in TOPICS for docno in DOCNOS[number * 2 :: 3]
        )
        labels(session, "jo", made, add_to_pool=True, name=f"{number}.txt")
        exported = qrels.export_qrels(session, SLUG, made_at=NOW)
        version = qrels_versions.keep_qrels(session, SLUG, exported, made_by_id=None, made_at=NOW)
        if number == 1:
            rounds.close_round(session, SLUG, version=version, at=NOW)


@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("measure", ["AP", "infAP", "nDCG@10"])
@pytest.mark.parametrize("version", [None, 2])
def test_every_page_of_a_round_has_the_values_of_its_leaderboard(
    two_rounds: Session, measure: str, version: int | None, *, residual: bool
) -> None:
    grades = GradesFrom(version=version, round=2, residual=residual)
    board = leaderboard.build_leaderboard(two_rounds, SLUG, [measure], grades=grades)
    expected = {row.tag: row.values[0] for row in board.rows}
    assert len(expected) == 3
    name = "live" if version is None else str(version)
    tested = significance_report(
        two_rounds, SLUG, SignificanceRequest(measure, name, permutations=0, round=2, residual=residual)
    )
    means = {tag: mean.mean.value for tag, mean in zip(tested.tags, tested.means, strict=True)}
    assert means == pytest.approx(expected)
    assert tested.state.source == board.source
    chosen = GradesChosen(name, round=2, residual=residual)
    looked = inspecting.inspect_run(two_rounds, SLUG, "round2-1", measure=measure, grades=chosen)
    assert looked.look.mean == pytest.approx(expected["round2-1"])
    assert (looked.choices.state.named, looked.choices.state.fingerprint) == (board.source, board.fingerprint)
    assert looked.choices.notices[0] == board.of_scope[0]
    pair = inspecting.inspect_pair(two_rounds, SLUG, "round2-0", "round2-2", measures=(measure,), grades=chosen)
    [both] = pair.look.by_measure
    assert (both.first, both.second) == pytest.approx((expected["round2-0"], expected["round2-2"]))


def test_the_quality_of_a_round_counts_what_was_judged_in_it(two_rounds: Session) -> None:
    board = leaderboard.build_leaderboard(two_rounds, SLUG, grades=GradesFrom(round=2, residual=True))
    residual = quality_report(two_rounds, SLUG, QualityRequest("AP", ablates=False, round=2, residual=True))
    assert (residual.state.grades, residual.runs, residual.fed) == (board.grades, 3, 3)
    whole = quality_report(two_rounds, SLUG, QualityRequest("AP", ablates=False, round=2))
    every = quality_report(two_rounds, SLUG, QualityRequest("AP", ablates=False))
    assert (whole.runs, every.runs) == (3, 6)
    assert whole.state.grades == every.state.grades > residual.state.grades
    pooled = [sum(int(str(row[1])) for row in one.table(ReusabilityPart.TOPICS)[1]) for one in (residual, whole)]
    assert pooled[1] - pooled[0] == every.state.grades - residual.state.grades
    assert residual.file(ReusabilityPart.TOPICS)[1][0][-4] == "live, round 2, residual"


def test_a_run_of_another_round_and_a_round_without_new_grades_are_refused(two_rounds: Session) -> None:
    second = GradesChosen(round=2, residual=True)
    with pytest.raises(NotFoundError, match="The run round1-0 is not one of round 2"):
        inspecting.inspect_run(two_rounds, SLUG, "round1-0", grades=second)
    with pytest.raises(NotFoundError, match="There is no round 3"):
        significance_report(two_rounds, SLUG, SignificanceRequest(round=3))
    for request in ("1", "live"):
        report = SignificanceRequest("AP", request, permutations=0, round=2, residual=request == "1")
        if request == "1":  # the version that closed round 1 has nothing beside what was judged before round 2
            with pytest.raises(ConflictError, match="made before round 2"):
                significance_report(two_rounds, SLUG, report)
        else:
            assert len(significance_report(two_rounds, SLUG, report).tags) == 3


@pytest.mark.parametrize("cached", [False, True])
def test_judges_and_disputes_of_a_residual_round_are_those_of_the_grades_left(
    session: Session, *, cached: bool
) -> None:
    cache = ScoreCache() if cached else None
    news(session, judgements_wanted=2)
    collection.change_collection(session, SLUG, CollectionChange(leaves_out_disputed=True))
    topic_file(session)
    document_file(session, ["a", "b", "c", "d"])
    rounds.open_round(session, SLUG, at=NOW)
    run(session, "first", {"1": ["a", "b", "c"]})
    build(session, PoolRequest("depth", {"depth": 10}), seed=1)
    labels(session, "jo", "1 0 a 1\n")
    labels(session, "kim", "1 0 a 1\n", name="kim.txt")
    exported = qrels.export_qrels(session, SLUG, made_at=NOW)
    version = qrels_versions.keep_qrels(session, SLUG, exported, made_by_id=None, made_at=NOW)
    rounds.close_round(session, SLUG, version=version, at=NOW)
    rounds.open_round(session, SLUG, at=NOW)
    run(session, "second", {"1": ["c", "a", "d"]})
    labels(session, "jo", "1 0 c 1\n", name="second.txt")
    one_judge = "All grades are from one judge, so agreement cannot be measured."

    def shown(*, residual: bool) -> tuple[int, int, bool]:
        of_round = GradesFrom(round=2, residual=residual)
        board = leaderboard.build_leaderboard(session, SLUG, ["AP"], grades=of_round, cache=cache)
        return board.grades, board.disputed_left_out, one_judge in map(str, board.notices)

    assert (shown(residual=False), shown(residual=True)) == ((2, 0, False), (1, 0, True))
    # A dispute about what is taken out is none of this round.
    labels(session, "kim", "1 0 a 2\n", name="kim2.txt")
    assert (shown(residual=False), shown(residual=True)) == ((1, 1, False), (1, 0, True))
    labels(session, "kim", "1 0 d 1\n", add_to_pool=True, name="kim3.txt")
    assert shown(residual=True) == (2, 0, False)
