"""Scores of a pool that is a sample: wherever they are computed, they are those of the qrels exported with it."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product

import pytest
from build import LIMIT, NOW, SLUG, build, labels, news, run, topic_file
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy.orm import Session
from thorough import examples

from annotator.errors import ConflictError, FileRefusedError
from annotator.evaluation import metrics
from annotator.evaluation.leaderboard.leaderboard import Leaderboard
from annotator.files import InputFile
from annotator.storage import Database
from annotator.storage.pools.pools import PoolRequest
from annotator.workflows.agreement import judge_effect, machine_judges
from annotator.workflows.leaderboard import measure_correlation
from annotator.workflows.leaderboard.grade_sources import LIVE, GradesFrom
from annotator.workflows.leaderboard.inspecting import (
    GradesChosen,
    inspect_pair,
    inspect_run,
    inspect_topic,
    inspect_topics,
)
from annotator.workflows.leaderboard.leaderboard import build_leaderboard
from annotator.workflows.leaderboard.leave_out_report import LeaveOutRequest, leave_out_report
from annotator.workflows.leaderboard.reusability_report import QualityRequest, quality_report
from annotator.workflows.leaderboard.score_cache import ScoreCache
from annotator.workflows.leaderboard.significance_report import SignificanceRequest, significance_report
from annotator.workflows.pools.pools import pooled_docnos
from annotator.workflows.qrels import prels, qrels, qrels_diff
from annotator.workflows.qrels.qrels_versions import keep_qrels

ESTIMATES = ("infAP", "xinfAP", "infNDCG", "infNDCG@5", "xinfAP(prior=stratum)")
OTHERS = ("AP", "nDCG@10", "P@5", "Bpref", "RR", "ERR@10", "NumRelRet", "Judged@10")
DOCNOS = [f"d{number:02}" for number in range(30)]
LISTS = {
    "alpha": {"1": DOCNOS, "2": DOCNOS[:20], "3": DOCNOS[5:]},
    "beta": {"1": DOCNOS[::-1], "2": DOCNOS[10:], "3": DOCNOS[:12]},
    "gamma": {"1": DOCNOS[1::2], "3": DOCNOS[::3]},
}
STRATA = ("1-30:0.3", "1-5:1,6-30:0.25", "1-10:1", "1-4:0.5,5-12:0.5,13-30:0.2")


def sampled(session: Session, strata: str, seed: int = 5) -> None:
    news(session)
    topic_file(session, "1\tfirst\n2\tsecond\n3\tthird\n")
    for tag, lists in LISTS.items():
        run(session, tag, lists)
    build(session, PoolRequest("stratified", {"strata": strata}), seed=seed)


def grade(number: str, docno: str) -> int:
    return (int(number) * 7 + int(docno[1:]) * 5) % 11 % 3


def label(session: Session, pairs: Sequence[tuple[str, str]], name: str = "qrels", judge: str = "jo") -> None:
    text = "".join(f"{number} 0 {docno} {grade(number, docno)}\n" for number, docno in pairs)
    labels(session, judge, text, name=name, add_to_pool=True)


def board(session: Session, measures: Sequence[str], grades: GradesFrom = LIVE) -> Leaderboard:
    return build_leaderboard(session, SLUG, measures, grades=grades)


def by_file(session: Session, measures: Sequence[str], content: bytes) -> Leaderboard:
    return board(session, measures, GradesFrom(qrels_file=InputFile("exported", content), unpacked_limit=LIMIT))


def values(found: Leaderboard, measures: int | None = None) -> dict[tuple[str, str], list[float]]:
    """Per run and topic, and over the topics; of the first measures."""
    whole = {(row.tag, "all"): list(row.values)[:measures] for row in found.rows}
    topics = {(row.tag, topic): list(row.by_topic[topic])[:measures] for row in found.rows for topic in found.topics}
    return {key: [float(value) for value in of_key] for key, of_key in {**whole, **topics}.items()}


def same(found: Mapping[tuple[str, str], list[float]], expected: Mapping[tuple[str, str], list[float]]) -> bool:
    return found.keys() == expected.keys() and all(
        of_key == pytest.approx(expected[key], abs=1e-12) for key, of_key in found.items()
    )


def evaluated(content: bytes, path: str) -> dict[tuple[str, str], list[float]]:
    """What `evaluate` computes from an exported file."""
    with open(path, "wb") as file:  # noqa: PTH123 - hypothesis has no temporary path
        file.write(content)
    runs = {
        tag: {topic: {docno: 1000.0 - rank for rank, docno in enumerate(docnos)} for topic, docnos in lists.items()}
        for tag, lists in LISTS.items()
    }
    scores = metrics.evaluate(path, runs, ESTIMATES).scores
    found: dict[tuple[str, str], list[float]] = {}
    for place, tag in enumerate(LISTS):
        found[tag, "all"] = list(map(float, scores.over_topics(place)))
        found |= {(tag, topic): list(map(float, of)) for topic, of in scores.by_topic(place).items()}
    return found


@given(
    strata=st.sampled_from(STRATA),
    seed=st.integers(0, 50),
    judged=st.sets(st.integers(0, 89), min_size=1),
    judges=st.sampled_from(["only what was drawn", "anything"]),
)
@example(strata="1-30:0.3", seed=1, judged=set(range(90)), judges="only what was drawn")
@example(strata="1-30:0.3", seed=1, judged=set(range(30)), judges="anything")
@settings(max_examples=examples(30), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_board_the_file_and_evaluate_agree(
    database: Database, tmp_path_factory: pytest.TempPathFactory, strata: str, seed: int, judged: set[int], judges: str
) -> None:
    only_drawn = judges == "only what was drawn"
    path = str(tmp_path_factory.mktemp("prels") / "exported")
    with database.transaction() as session:
        sampled(session, strata, seed)
        drawn = set(pooled_docnos(session, SLUG))
        pairs = [pair for place, pair in enumerate(product("123", DOCNOS)) if place in judged]
        label(session, [pair for pair in pairs if not only_drawn or pair in drawn] or [min(drawn)])
        live = values(board(session, ESTIMATES))
        try:
            exported = prels.export_prels(session, SLUG, made_at=NOW).prels
        except ConflictError:  # nothing that was drawn is judged
            assert only_drawn is False
        else:
            assert same(values(by_file(session, ESTIMATES, exported)), live)
            assert same(evaluated(exported, path), live)
            if only_drawn:
                every = (*ESTIMATES, *OTHERS)
                assert same(values(by_file(session, every, exported)), values(board(session, every)))
        plain = qrels.export_qrels(session, SLUG, made_at=NOW).qrels
        assert same(values(by_file(session, OTHERS, plain)), values(board(session, OTHERS)))
        session.rollback()


@given(judged=st.sets(st.integers(0, 89), min_size=1))
@settings(max_examples=examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_without_a_sample_the_board_of_the_exported_qrels_is_the_live_one(database: Database, judged: set[int]) -> None:
    every = (*ESTIMATES, *OTHERS)
    with database.transaction() as session:
        news(session)
        topic_file(session, "1\tfirst\n2\tsecond\n3\tthird\n")
        for tag, lists in LISTS.items():
            run(session, tag, lists)
        build(session, PoolRequest("depth", {"depth": 8}))
        label(session, [pair for place, pair in enumerate(product("123", DOCNOS)) if place in judged])
        live = board(session, every)
        exported = by_file(session, every, qrels.export_qrels(session, SLUG, made_at=NOW).qrels)
        assert same(values(exported), values(live))
        assert (exported.fingerprint, exported.grades) == (live.fingerprint, live.grades)
        session.rollback()


def label_drawn(session: Session) -> None:
    label(session, sorted(pooled_docnos(session, SLUG)))


def keep(session: Session) -> None:
    made = qrels.export_qrels(session, SLUG, made_at=NOW)
    keep_qrels(session, SLUG, made, made_by_id=None, made_at=NOW)


def means(session: Session, measure: str, grades: GradesFrom = LIVE) -> dict[str, float]:
    return {row.tag: float(row.values[0]) for row in board(session, [measure], grades).rows}


SCORERS: dict[str, Callable[[Session, str], dict[str, float]]] = {
    "significance": lambda session, measure: {
        tag: float(one.mean.value or 0)
        for report in [significance_report(session, SLUG, SignificanceRequest(measure, permutations=0))]
        for tag, one in zip(report.tags, report.means, strict=True)
    },
    "correlation": lambda session, measure: {
        one.tag: one.second
        for one in measure_correlation.correlate(
            session, SLUG, measure_correlation.Side("AP"), measure_correlation.Side(measure)
        ).runs
    },
    "run pages": lambda session, measure: {
        tag: float(inspect_run(session, SLUG, tag, measure=measure).look.mean) for tag in LISTS
    },
    "pair pages": lambda session, measure: {
        tag: float(mean)
        for first, second in [("alpha", "beta"), ("beta", "gamma")]
        for [look] in [inspect_pair(session, SLUG, first, second, measures=[measure]).look.by_measure]
        for tag, mean in [(first, look.first), (second, look.second)]
    },
    "differences": lambda session, measure: {
        one.tag: one.after for one in qrels_diff.diff_qrels(session, SLUG, "1", "live", measure).runs
    },
}


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("measure", ["infAP", "xinfAP", "infNDCG@10"])
def test_every_other_report_has_the_values_of_the_board(session: Session, scorer: str, measure: str) -> None:
    sampled(session, "1-30:0.3")
    label_drawn(session)
    keep(session)
    found = SCORERS[scorer](session, measure)
    assert found == pytest.approx(means(session, measure), abs=1e-9)
    assert found != pytest.approx(means(session, "AP"), abs=0.01)


def test_topic_pages_have_the_values_of_the_board(session: Session) -> None:
    sampled(session, "1-30:0.3")
    label_drawn(session)
    of_topics = {row.tag: row.by_topic for row in board(session, ["xinfAP"]).rows}
    topic = inspect_topic(session, SLUG, "3", measure="xinfAP")
    assert {one.ranked.tag: float(one.ranked.value) for one in topic.look.runs} == pytest.approx(
        {tag: float(values["3"][0]) for tag, values in of_topics.items()}
    )
    assert inspect_topics(session, SLUG, measure="xinfAP").choices.notices == ()


def test_the_effect_of_judges_and_machines_is_estimated_from_the_sample(session: Session) -> None:
    sampled(session, "1-30:0.3")
    label_drawn(session)
    label(session, sorted(pooled_docnos(session, SLUG)), name="second", judge="kim")
    effect = judge_effect.judge_effect(session, SLUG, judge_effect.EffectRequest("xinfAP"))
    [pair] = effect.pairs
    assert dict(zip(effect.tags, pair.comparison.first, strict=True)) == pytest.approx(means(session, "xinfAP"))
    judge = GradesFrom(judge="kim")
    assert means(session, "xinfAP", judge) == pytest.approx(means(session, "xinfAP"))
    assert machine_judges.machine_reports(session, SLUG, "xinfAP").machines == ()


def test_experiments_that_take_documents_out_refuse_estimates(session: Session) -> None:
    sampled(session, "1-30:0.3")
    label_drawn(session)
    with pytest.raises(ConflictError, match="infAP estimates from the sample of version 1"):
        leave_out_report(session, SLUG, LeaveOutRequest(["AP", "infAP"]))
    with pytest.raises(ConflictError, match="infNDCG estimates from the sample of version 1"):
        quality_report(session, SLUG, QualityRequest("infNDCG"))
    assert quality_report(session, SLUG, QualityRequest("infNDCG", ablates=False)).density


def test_other_measures_carry_a_warning_and_estimates_none(session: Session) -> None:
    sampled(session, "1-30:0.3")
    label_drawn(session)
    [notice] = board(session, ["AP", "infAP", "Judged@10"]).of_sample
    assert "version 1 drew" in str(notice)
    assert str(notice).endswith(": AP.")
    assert board(session, ["infAP", "xinfAP", "infNDCG"]).of_sample == ()
    for notices in (
        significance_report(session, SLUG, SignificanceRequest("AP", permutations=0)).notices,
        measure_correlation.correlate(session, SLUG).notices,
        inspect_topics(session, SLUG, measure="AP").choices.notices,
        leave_out_report(session, SLUG, LeaveOutRequest(["AP"])).notices,
        quality_report(session, SLUG, QualityRequest("AP")).notices,
    ):
        assert "version 1 drew" in str(notices[0])


def test_infap_of_several_rates_is_named_biased(session: Session) -> None:
    sampled(session, "1-5:1,6-30:0.25")
    label_drawn(session)
    assert [str(one).split(" of ")[0] for one in board(session, ["infAP"]).of_sample] == ["The strata"]
    assert board(session, ["xinfAP"]).of_sample == ()


def test_a_sample_of_everything_needs_no_warning(session: Session) -> None:
    sampled(session, "1-30:1")
    label_drawn(session)
    assert board(session, ["AP"]).of_sample == ()


def test_a_kept_version_is_scored_by_the_sample_of_its_time(session: Session) -> None:
    sampled(session, "1-30:0.3")
    label_drawn(session)
    then = means(session, "xinfAP")
    keep(session)
    build(session, PoolRequest("stratified", {"strata": "1-20:0.5"}), seed=8)
    label(session, sorted(pooled_docnos(session, SLUG)), name="more")
    assert means(session, "xinfAP") != pytest.approx(then, abs=0.001)
    assert means(session, "xinfAP", GradesFrom(version=1)) == pytest.approx(then)
    kept = inspect_run(session, SLUG, "alpha", measure="xinfAP", grades=GradesChosen(qrels="1"))
    assert kept.look.mean == pytest.approx(then["alpha"])


def test_a_remembered_board_follows_a_new_sample_and_what_is_judged_of_it(session: Session) -> None:
    cache = ScoreCache()

    def remembered() -> Leaderboard:
        seen = build_leaderboard(session, SLUG, [*ESTIMATES, "AP"], cache=cache)
        assert seen == board(session, [*ESTIMATES, "AP"])
        return seen

    news(session)
    topic_file(session, "1\tfirst\n2\tsecond\n3\tthird\n")
    for tag, lists in LISTS.items():
        run(session, tag, lists)
    label(session, [("1", "d03"), ("2", "d04")], name="before")
    seen = [remembered()]
    for seed in (1, 2):
        build(session, PoolRequest("stratified", {"strata": "1-30:0.3"}), seed=seed)
        seen.append(remembered())
        label(session, sorted(pooled_docnos(session, SLUG)), name=f"sample {seed}")
        seen.append(remembered())
    assert len({tuple(row.values for row in one.rows) for one in seen}) == len(seen)


def test_a_file_without_the_sample_is_taken_for_complete_with_a_notice(session: Session) -> None:
    sampled(session, "1-30:0.3")
    label_drawn(session)
    plain = qrels.export_qrels(session, SLUG, made_at=NOW).qrels
    assert "does not state which documents were not drawn" in str(by_file(session, ["infAP", "AP"], plain).notices[0])
    four = prels.export_for_infap(session, SLUG, made_at=NOW).prels
    assert not any("does not state" in str(one) for one in by_file(session, ["infAP"], four).notices)


def test_a_file_of_five_columns_is_refused_by_its_lines(session: Session) -> None:
    sampled(session, "1-30:0.3")
    with pytest.raises(FileRefusedError) as refused:
        by_file(session, ["infAP"], b"1 0 d01 1 1\n1 0 d02 1\n9 0 d03 1 0\n")
    assert [(one.line, str(one.sentence).split(",")[0]) for one in refused.value.problems] == [
        (2, "The line has 4 columns"),
        (3, "The collection has no topic 9."),
    ]
