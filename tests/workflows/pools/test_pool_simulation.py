"""Strategies tried on judgements that exist, by hand on a small collection."""

import pytest
from adaptive import FIXTURE
from build import LIMIT, NOW, SLUG, news, run, topic_file
from sqlalchemy import update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, FileRefusedError, InvalidValueError
from annotator.evaluation.stopping.stopping_rules import RULES, StoppingSettings
from annotator.evaluation.stopping.stopping_simulation import StoppingTrial
from annotator.files import InputFile
from annotator.storage import Topic, TopicState
from annotator.workflows.pools.pool_simulation import Simulation, simulate_strategies
from annotator.workflows.runs.runs import withdraw_run

# All fifteen documents of the fixture in topic 1, of which a, b, g and k are relevant, and z, which no run has.
QRELS = "".join(f"1 0 {docno} {int(docno in 'abgkz')}\n" for docno in "abcdefghijklmnoz")


def fixture_news(session: Session) -> None:
    news(session)
    topic_file(session)
    for tag, docnos in FIXTURE.items():
        run(session, tag, {"1": list(docnos)})


def simulate(
    session: Session, *names: str, qrels: str = QRELS, start_depths: tuple[int, ...] = (0,), strata: str | None = None
) -> Simulation:
    return simulate_strategies(
        session,
        SLUG,
        InputFile("q", qrels.encode()),
        names=names,
        start_depths=start_depths,
        strata=strata,
        seed=1,
        unpacked_limit=LIMIT,
    )


def test_found_is_counted_in_the_order_of_the_strategy(session: Session) -> None:
    fixture_news(session)
    # With RRF's ties, by hand: RRF has b first, which three runs have, then a, which two have; then the seconds.
    [rrf] = simulate(session, "rrf").strategies
    # 5, 10, 20, 30 and 50 % of 15 are 1, 2, 3, 4 and 8 documents: halves are rounded to even numbers.
    assert [point.judged for point in rrf.points] == [1, 2, 3, 4, 8]
    # b a k g ..., as in METHODS.md 1.5, where the order is bakglchmdneiofj.
    assert [point.found for point in rrf.points] == [0.25, 0.5, 0.75, 1.0, 1.0]
    assert [point.share for point in rrf.points] == [0.05, 0.1, 0.2, 0.3, 0.5]


def test_tau_is_of_the_runs_by_ap_with_what_is_judged(session: Session) -> None:
    fixture_news(session)
    [rrf] = simulate(session, "rrf").strategies
    # With four relevant: A has a 1/1, b 2/2: 2/4. B has b, g, a at 1, 2, 4: (1 + 1 + 3/4)/4 = 0.6875. C has k, b at 1
    # and 6: (1 + 2/6)/4 = 0.333. With b alone: A 1/2, B 1, C 1/6, the same order; with b and a: A (1 + 1)/2 = 1, B
    # (1 + 2/4)/2 = 0.75, C 1/12: one pair of three is turned.
    assert rrf.points[0].tau == pytest.approx(1)
    assert rrf.points[1].tau == pytest.approx(1 / 3)
    assert rrf.points[3].tau == pytest.approx(1)


def test_what_no_run_has_is_left_out_and_counted(session: Session) -> None:
    fixture_news(session)
    told = simulate(session, "depth", qrels=f"{QRELS}1 0 y -1\n2 0 a 1\n")
    assert (told.runs, told.topics, told.judged, told.relevant) == (3, 1, 15, 4)
    # z, and a of topic 2, for which no run has a list.
    assert (told.in_no_run, told.relevant_in_no_run, told.seed) == (2, 2, 1)


def test_all_strategies_are_tried_and_adaptive_ones_from_each_start(session: Session) -> None:
    fixture_news(session)
    told = simulate(session, start_depths=(10, 0)).strategies
    assert [(one.name, one.start_depth) for one in told] == [
        ("depth", None), ("rrf", None), ("borda", None), ("rbp", None), ("combmnz", None), ("ntcir", None),
        ("mtf", 10), ("mtf", 0), ("maxmean", 10), ("maxmean", 0), ("maxmean-ns", 10), ("maxmean-ns", 0),
        ("hedge", 10), ("hedge", 0), ("cal", 10), ("cal", 0), ("stratified", None), ("sample", None),
    ]  # fmt: skip
    # All of the runs' six documents are in a pool of depth 10, which is taken in as a growing depth takes it.
    assert told[6].points == told[0].points


def test_a_sample_judges_no_more_than_it_drew(session: Session) -> None:
    fixture_news(session)
    # The first and second of the runs: a b g k l.
    [sample] = simulate(session, "stratified", strata="1-2:1").strategies
    assert [point.judged for point in sample.points] == [1, 2, 3, 4, 5]


def test_a_budget_is_divided_evenly_over_the_topics(session: Session) -> None:
    news(session)
    topic_file(session)
    run(session, "r", {"1": list("abcdefgh"), "2": ["x", "y"]})
    qrels = "".join(f"1 0 {docno} 1\n" for docno in "abcdefgh") + "2 0 x 0\n2 0 y 1\n"
    [depth] = simulate(session, "depth", qrels=qrels).strategies
    # 0, 1, 2, 3 and 5 of 10; of 5 topic 2 can give 2, so that topic 1 gives 3; y comes with the second of topic 2.
    assert [round(point.found * 9) for point in depth.points] == [0, 1, 1, 2, 4]


def test_only_runs_in_force_and_accepted_topics_count(session: Session) -> None:
    fixture_news(session)
    withdraw_run(session, SLUG, "C", at=NOW)
    assert simulate(session, "depth").judged == 10
    session.execute(update(Topic).where(Topic.number == "1").values(state=TopicState.DROPPED))
    with pytest.raises(ConflictError, match="nothing to find"):
        simulate(session, "depth")


@pytest.mark.parametrize(("names", "strata"), [(("deep",), None), (("stratified",), "2-3:1"), (("mtf", "deep"), None)])
def test_what_cannot_be_tried_is_refused(session: Session, names: tuple[str, ...], strata: str | None) -> None:
    fixture_news(session)
    with pytest.raises(InvalidValueError):
        simulate(session, *names, strata=strata)


def test_bad_qrels_are_refused_with_their_lines(session: Session) -> None:
    fixture_news(session)
    with pytest.raises(FileRefusedError) as refusal:
        simulate(session, "depth", qrels="1 0 a\n9 0 a 1\n")
    assert [problem.line for problem in refusal.value.problems] == [1, 2]


def test_simulating_stores_nothing(session: Session) -> None:
    fixture_news(session)
    simulate(session, "mtf")
    assert not session.new
    assert not session.dirty


def test_stopping_rules_are_tried_in_the_order_of_each_strategy(session: Session) -> None:
    fixture_news(session)
    trial = StoppingTrial(StoppingSettings(target=0.7, in_a_row=3), sample_share=0.4, draws=2)
    found = simulate_strategies(
        session,
        SLUG,
        InputFile("q", QRELS.encode()),
        names=["rrf", "mtf"],
        start_depths=[0],
        stopping=trial,
        seed=1,
        unpacked_limit=LIMIT,
    )
    assert found.stopping == trial
    for strategy in found.strategies:
        assert {one.rule for one in strategy.rules} == set(RULES)
    [row] = [one for one in found.strategies[0].rules if one.rule == "in-a-row"]
    # b a k g l c h: all four are found, and the next three are not relevant.
    assert (row.recall, row.reliability, row.stopped) == (1, 1, 1)
    assert row.judged == pytest.approx(7 / 15)
    headings, rows = found.rules_table()
    assert len(rows) == 2 * len(RULES)
    assert dict(zip(headings, rows[0], strict=True))["certainty"] == "guarantee"
    assert simulate(session, "rrf").rules_table()[1] == []
