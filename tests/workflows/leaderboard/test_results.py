"""What comes out: agreement, qrels with their manifest, and the leaderboard, all from the same judgements."""

import hashlib
import json

import pytest
from beginning import beginning
from build import LIMIT, NOW, SLUG, document_file, labels, member, news, pooled_news, run, topic_file
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, FileRefusedError, InvalidValueError, NotFoundError
from annotator.evaluation.metrics.names import DEFAULT_MEASURES
from annotator.files import InputFile
from annotator.storage import CannotJudge
from annotator.storage.judging.leases import Decision
from annotator.workflows.agreement import agreement
from annotator.workflows.collections import collection as collections
from annotator.workflows.collections.collection import CollectionChange
from annotator.workflows.judging import judging, recording
from annotator.workflows.leaderboard import leaderboard
from annotator.workflows.leaderboard.grade_sources import GradesFrom
from annotator.workflows.qrels import qrels


@beginning
def judged_news(session: Session) -> None:
    """Topic 1: a 2, b 0, c 1, d 0; topic 2: a 0, e 1."""
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n1 0 b 0\n1 0 c 1\n1 0 d 0\n2 0 a 0\n2 0 e 1\n")


def test_kappa_of_a_pair_is_over_the_documents_both_graded(session: Session) -> None:
    judged_news(session)
    # Of six common documents five are graded alike: P(A) = 5/6. jo: 0 x3, 1 x2, 2 x1; kim: 0 x4, 1 x1, 2 x1;
    # P(E) = (3*4 + 2*1 + 1*1) / 36 = 15/36; kappa = (30/36 - 15/36) / (21/36) = 15/21.
    labels(session, "kim", "1 0 a 2\n1 0 b 0\n1 0 c 0\n1 0 d 0\n2 0 a 0\n2 0 e 1\n")
    report = agreement.agreement_report(session, SLUG)
    [pair] = report.pairs
    assert (pair.first, pair.second, pair.kappa.n) == ("jo", "kim", 6)
    assert pair.kappa.value == pytest.approx(15 / 21)


def test_judges_with_nothing_in_common_have_no_kappa_but_a_reason(session: Session) -> None:
    pooled_news(session, judgements_wanted=2)
    labels(session, "jo", "1 0 a 2\n")
    labels(session, "kim", "1 0 b 2\n")
    [pair] = agreement.agreement_report(session, SLUG).pairs
    assert (pair.kappa.n, pair.kappa.value) == (0, None)
    assert pair.kappa.reason is not None
    assert "no document in common" in str(pair.kappa.reason.sentence)


def test_there_is_an_agreement_report_before_any_judgement(session: Session) -> None:
    news(session)
    assert agreement.agreement_report(session, SLUG).pairs == ()


def test_qrels_are_what_was_settled_and_nothing_for_the_unjudged(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "2 0 e 1\n1 0 b 0\n1 0 a 2\n")
    export = qrels.export_qrels(session, SLUG, made_at=NOW)
    assert export.qrels == b"1 0 a 2\n1 0 b 0\n2 0 e 1\n"
    assert export == qrels.export_qrels(session, SLUG, made_at=NOW)


def test_cannot_judge_is_left_out_and_counted(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    task = judging.next_task(session, SLUG, "1", jo, now=NOW)
    assert task is not None
    recording.record_judgement(
        session, SLUG, task.assignment_id, jo, Decision(None, CannotJudge.BROKEN), client_id="c", judged_at=NOW
    )
    export = qrels.export_qrels(session, SLUG, made_at=NOW)
    assert export.qrels == b""
    counts = json.loads(export.manifest)["counts"]
    assert (counts["pool_items"], counts["unjudged"], counts["could_not_be_judged"]) == (6, 5, 1)


@pytest.mark.parametrize(("policy", "grade"), [("majority", 0), ("lowest", 0), ("highest", 2), ("median", 0)])
def test_several_judges_are_settled_by_the_policy(session: Session, policy: str, grade: int) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n")
    labels(session, "kim", "1 0 a 0\n")
    export = qrels.export_qrels(session, SLUG, policy=policy, made_at=NOW)
    assert export.qrels == f"1 0 a {grade}\n".encode()
    assert json.loads(export.manifest)["consensus_policy"] == policy


def test_one_judges_qrels_are_that_judges_words(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n1 0 b 1\n")
    labels(session, "kim", "1 0 a 0\n")
    export = qrels.export_qrels(session, SLUG, judge="kim", made_at=NOW)
    assert export.qrels == b"1 0 a 0\n"
    assert json.loads(export.manifest)["judge"] == "kim"
    with pytest.raises(NotFoundError, match="no user “lee”"):
        qrels.export_qrels(session, SLUG, judge="lee", made_at=NOW)
    with pytest.raises(InvalidValueError, match="consensus policy “coin”"):
        qrels.export_qrels(session, SLUG, policy="coin", made_at=NOW)


def test_the_manifest_says_where_the_qrels_come_from(session: Session) -> None:
    judged_news(session)
    export = qrels.export_qrels(session, SLUG, made_at=NOW)
    manifest = json.loads(export.manifest)
    assert manifest["sha256"] == hashlib.sha256(export.qrels).hexdigest()
    assert manifest["pool_versions"] == [
        {
            "version": 1,
            "strategy": "depth",
            "parameters": {"depth": 10, "runs": ["alpha", "beta"]},
            "seed": 1,
            "showing": "random",
        }
    ]
    assert manifest["dropped_topics"] == []
    assert [grade["value"] for grade in manifest["scale"]] == [0, 1, 2]
    assert (manifest["relevant_from"], manifest["consensus_policy"]) == (1, "majority")
    assert manifest["counts"]["lines_by_grade"] == {"0": 3, "1": 2, "2": 1}


def test_every_run_is_scored_over_the_topics_of_the_qrels(session: Session) -> None:
    judged_news(session)
    board = leaderboard.build_leaderboard(session, SLUG, ["AP", "P@2", "NDCG@10"])
    assert board.measures == ("AP", "P@2", "nDCG@10")
    values = {row.tag: row.values for row in board.rows}
    # Topic 1, alpha: a2 b0 c1 → AP (1/1 + 2/3)/2 = 5/6; beta: d0 b0 a2 → (1/3)/2 = 1/6.
    # Topic 2, alpha: a0 → 0; beta: e1 → 1.
    assert values["alpha"][0] == pytest.approx((5 / 6 + 0) / 2)
    assert values["beta"][0] == pytest.approx((1 / 6 + 1) / 2)
    assert values["alpha"][1] == pytest.approx((1 / 2 + 0) / 2)
    assert [row.tag for row in board.rows] == ["beta", "alpha"]
    assert board.rows[1].by_topic["1"][0] == pytest.approx(5 / 6)


@pytest.mark.parametrize(
    ("measure", "better", "tags", "values"),
    [
        # alpha finds a and c of topic 1, nothing of topic 2; beta a of 1 and e of 2. Both return four documents.
        ("NumRelRet", "more", ["alpha", "beta"], [2, 2]),
        ("R@1", "more", ["beta", "alpha"], [1 / 2, 1 / 4]),
        ("FN", "less", ["alpha", "beta"], [1, 1]),
        ("FN(rel=2)", "less", ["alpha", "beta"], [0, 0]),
        ("NumRel", "neither", ["alpha", "beta"], [3, 3]),
        ("NumQ", "neither", ["alpha", "beta"], [2, 2]),
    ],
)
def test_the_best_run_stands_first_where_there_is_a_better(
    session: Session, measure: str, better: str, tags: list[str], values: list[float]
) -> None:
    judged_news(session)
    board = leaderboard.build_leaderboard(session, SLUG, [measure])
    assert board.better == better
    assert [row.tag for row in board.rows] == tags
    assert [row.values[0] for row in board.rows] == pytest.approx(values)


def test_a_run_with_fewer_faults_stands_first_and_one_that_returned_more_does_not(session: Session) -> None:
    judged_news(session)
    run(session, "best", {"1": ["a", "c"], "2": ["e"]})
    by_faults = leaderboard.build_leaderboard(session, SLUG, ["FP"])
    # Not relevant: b of alpha's, and a of topic 2; d and b of beta's.
    assert [(row.tag, row.values[0]) for row in by_faults.rows] == [("best", 0), ("alpha", 2), ("beta", 2)]
    by_length = leaderboard.build_leaderboard(session, SLUG, ["NumRet"])
    assert [(row.tag, row.values[0]) for row in by_length.rows] == [("alpha", 4), ("best", 3), ("beta", 4)]


def test_a_leaderboard_needs_a_measure(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 1\n")
    with pytest.raises(InvalidValueError, match="There is no measure to score by; name at least one"):
        leaderboard.build_leaderboard(session, SLUG, ())


def test_a_run_without_a_list_for_a_topic_scores_zero_there(session: Session) -> None:
    judged_news(session)
    run(session, "half", {"2": ["e"]})
    board = leaderboard.build_leaderboard(session, SLUG, ["RR"])
    half = next(row for row in board.rows if row.tag == "half")
    assert half.by_topic == {"1": (0.0,), "2": (1.0,)}
    assert half.values == (0.5,)


def test_topics_without_a_grade_are_left_out_and_counted(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n")
    board = leaderboard.build_leaderboard(session, SLUG)
    assert (board.topics, board.topics_left_out, board.grades) == (("1",), 1, 1)
    assert (board.source, board.policy, board.relevant_from) == ("live", "majority", 1)


def test_the_leaderboard_follows_each_judgement(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n")
    before = leaderboard.build_leaderboard(session, SLUG, ["AP"])
    labels(session, "jo", "1 0 d 2\n", name="more.txt")
    after = leaderboard.build_leaderboard(session, SLUG, ["AP"])
    assert before.fingerprint != after.fingerprint
    assert before.rows[0].values != after.rows[0].values


def test_exported_qrels_score_the_runs_as_the_live_grades_do(session: Session) -> None:
    judged_news(session)
    labels(session, "kim", "1 0 a 1\n1 0 d 2\n")
    live = leaderboard.build_leaderboard(session, SLUG, ["nDCG@10", "AP", "Bpref"])
    file = InputFile("out.qrels", qrels.export_qrels(session, SLUG, made_at=NOW).qrels)
    again = leaderboard.build_leaderboard(
        session, SLUG, ["nDCG@10", "AP", "Bpref"], grades=GradesFrom(qrels_file=file, unpacked_limit=LIMIT)
    )
    assert again.rows == live.rows
    assert again.fingerprint == live.fingerprint
    assert (again.source, again.policy) == ("out.qrels", None)


def test_relevant_documents_of_a_file_that_no_run_has_still_count(session: Session) -> None:
    judged_news(session)
    file = InputFile("more.qrels", b"2 0 e 1\n2 0 unheard-of 1\n")
    board = leaderboard.build_leaderboard(
        session, SLUG, ["AP"], grades=GradesFrom(qrels_file=file, unpacked_limit=LIMIT)
    )
    assert board.rows[0].by_topic == {"2": (0.5,)}


def test_relevant_from_is_the_collections(session: Session) -> None:
    judged_news(session)
    collections.change_collection(session, SLUG, CollectionChange(relevant_from=2))
    board = leaderboard.build_leaderboard(session, SLUG, ["AP", "AP(rel=1)"])
    alpha = next(row for row in board.rows if row.tag == "alpha")
    assert alpha.by_topic["1"] == pytest.approx((1.0, 5 / 6))


def test_the_best_grade_is_that_of_the_scale_and_not_of_what_was_judged_so_far(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 1\n")
    # A reader stops at a document of grade 1, on a scale up to 2, with probability (2^1 - 1) / 2^2.
    board = leaderboard.build_leaderboard(session, SLUG, ["ERR@1"])
    assert [row.values for row in board.rows if row.by_topic["1"] != (0,)] == [(1 / 4,)]


def test_there_is_nothing_to_score_before_a_judgement_or_a_run(session: Session) -> None:
    pooled_news(session)
    with pytest.raises(ConflictError, match="Nothing is judged yet"):
        leaderboard.build_leaderboard(session, SLUG)
    news(session, "empty")
    topic_file(session, slug="empty")
    document_file(session, ["a"], slug="empty")
    labels(session, "jo", "1 0 a 1\n", slug="empty", add_to_pool=True)
    with pytest.raises(ConflictError, match="no run to score"):
        leaderboard.build_leaderboard(session, "empty")


def test_an_unknown_measure_and_a_bad_file_are_refused(session: Session) -> None:
    judged_news(session)
    with pytest.raises(InvalidValueError, match="nDGC"):
        leaderboard.build_leaderboard(session, SLUG, ["nDGC@10"])
    with pytest.raises(FileRefusedError):
        leaderboard.build_leaderboard(
            session, SLUG, grades=GradesFrom(qrels_file=InputFile("q", b"1 0 a one\n"), unpacked_limit=LIMIT)
        )


def test_every_default_measure_explains_itself() -> None:
    explained = leaderboard.measure_help()
    assert list(explained) == list(DEFAULT_MEASURES)
    assert all(len(text) > 40 for text in explained.values())


def test_a_document_that_only_the_file_knows_takes_the_number_of_no_document(session: Session) -> None:
    judged_news(session)
    # The run has a document whose number follows the highest of those in the file.
    run(session, "gamma", {"2": ["z", "e"]})
    file = InputFile("q", b"2 0 a 0\n2 0 unheard-of 1\n")
    board = leaderboard.build_leaderboard(
        session, SLUG, ["RR", "NumRelRet"], grades=GradesFrom(qrels_file=file, unpacked_limit=LIMIT)
    )
    assert {row.tag: row.values for row in board.rows} == {"alpha": (0, 0), "beta": (0, 0), "gamma": (0, 0)}


def test_minus_one_is_no_grade_to_score_against(session: Session) -> None:
    judged_news(session)
    only = InputFile("q", b"1 0 a -1\n")
    with pytest.raises(ConflictError, match="Nothing is judged yet"):
        leaderboard.build_leaderboard(session, SLUG, ["AP"], grades=GradesFrom(qrels_file=only, unpacked_limit=LIMIT))
    some = InputFile("q", b"1 0 a -1\n1 0 b 1\n")
    assert (
        leaderboard.build_leaderboard(
            session, SLUG, ["AP"], grades=GradesFrom(qrels_file=some, unpacked_limit=LIMIT)
        ).grades
        == 1
    )


def test_the_fingerprint_is_that_of_the_exported_file_in_any_database(session: Session) -> None:
    judged_news(session)
    manifest = json.loads(qrels.export_qrels(session, SLUG, made_at=NOW).manifest)
    assert manifest["sha256"].startswith(leaderboard.build_leaderboard(session, SLUG).fingerprint)


def test_a_measure_asked_for_under_two_names_is_one_column(session: Session) -> None:
    judged_news(session)
    board = leaderboard.build_leaderboard(session, SLUG, ["nDCG@10", "ndcg_cut_10", "NDCG@10", "AP"])
    assert board.measures == ("nDCG@10", "AP")


def test_one_judges_manifest_counts_what_that_judge_could_not_judge(session: Session) -> None:
    pooled_news(session, judgements_wanted=2)
    jo = member(session, "jo")
    task = judging.next_task(session, SLUG, "1", jo, now=NOW)
    assert task is not None
    recording.record_judgement(
        session, SLUG, task.assignment_id, jo, Decision(None, CannotJudge.OTHER), client_id="c", judged_at=NOW
    )
    labels(session, "kim", "2 0 e 1\n")
    counts = {
        judge: json.loads(qrels.export_qrels(session, SLUG, judge=judge, made_at=NOW).manifest)["counts"]
        for judge in ("jo", "kim")
    }
    assert [(counts[judge]["could_not_be_judged"], counts[judge]["unjudged"]) for judge in counts] == [(1, 5), (0, 5)]
