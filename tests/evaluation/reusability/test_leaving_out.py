"""Who found what, and runs without what only they brought: by hand, and against scoring with shortened qrels."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.evaluation.leaderboard.collection_figures import Missing
from annotator.evaluation.leaderboard.contributions import NOBODY, SEVERAL, Contributions, who_found_what
from annotator.evaluation.leaderboard.rescoring import NOT_GRADED, RegradedRuns, Scoring
from annotator.evaluation.metrics.figures import Figure
from annotator.evaluation.metrics.names import parse_measure
from annotator.evaluation.metrics.scoring import score_runs
from annotator.evaluation.reusability import ablation
from annotator.evaluation.reusability.ablation import thinned_means
from annotator.evaluation.reusability.leaving_out import (
    Changes,
    Dependence,
    LeftOut,
    leave_out,
    steps_of_leaving_out,
)

NUMBERS = {1: "1", 2: "10", 3: "2"}


def scoring(name: str) -> Scoring:
    return Scoring(parse_measure(name), 1, 3)


def joined(
    lists: list[dict[int, list[int]]], qrels: dict[int, dict[int, int]]
) -> tuple[RegradedRuns, np.ndarray, list[tuple[int, int]]]:
    """The runs, a grade for each entry, and the topic and document that each entry is."""
    runs = [{topic: np.array(ranking, np.int32) for topic, ranking in run.items()} for run in lists]
    topics = sorted(qrels, key=lambda topic: NUMBERS[topic])
    entries = [(topic, document) for topic in topics for document in qrels[topic]]
    documents = {topic: np.array(list(qrels[topic]), np.int32) for topic in topics}
    grades = np.array([qrels[topic][document] for topic, document in entries], np.int16)
    return RegradedRuns.join(runs, documents, NUMBERS), grades, entries


def with_searches(contributions: Contributions, found: dict[str, np.ndarray]) -> Contributions:
    """Add the entries that people found by searching, by the name of each such source."""
    rows = np.zeros((len(found), contributions.has.shape[1]), np.bool_)
    for row, entries in zip(rows, found.values(), strict=True):
        row[entries] = True
    return Contributions((*contributions.sources, *found), np.concatenate([contributions.has, rows]))


# Team a has document 2 alone, team b document 3; both have document 1, and nobody has 4.
RUNS = [{1: [1, 2]}, {1: [1, 3]}]
GRADES = {1: {1: 1, 2: 2, 3: 0, 4: 1}}


Lists = list[dict[int, list[int]]]


def left_out(
    name: str,
    runs: Lists = RUNS,
    source_of: Sequence[int] = (0, 1),
    sources: Sequence[str] = ("a", "b"),
    depths: Sequence[int] = (2, 2),
) -> LeftOut:
    """Two runs of a team each, pooled to depth 2, unless something else is said."""
    matched, grades, _ = joined(runs, GRADES)
    contributions = Contributions.of_tops(matched, source_of, sources, depths)
    tags = [f"run{number}" for number in range(len(runs))]
    [found] = leave_out(tags, source_of, matched, grades, contributions, [scoring(name)])
    return found


def test_a_team_is_left_out_with_the_documents_that_it_alone_has() -> None:
    found = left_out("P@2")
    first, second = found.runs
    # Without a, document 2 is unjudged and run0 has one relevant of two; without b, document 3 is, which was not
    # relevant.
    assert (first.full, first.without, first.change, first.relative_change) == (1, 0.5, -0.5, Figure(-0.5))
    assert (second.full, second.without, second.change) == (0.5, 0.5, 0)
    assert (first.full_place, first.without_place, first.places_lost) == (1, 1, 0)
    assert (second.full_place, second.without_place) == (2, 2)
    assert [(one.source, one.judged, one.relevant, one.tau) for one in found.sources] == [
        ("a", 1, 1, Figure(None, Missing.NO_ORDER)),
        ("b", 1, 0, Figure(1)),
    ]
    assert found.values == found.shares == Changes(Figure(0.25), Figure(0.5), "run0")
    assert found.places == Changes(Figure(0), Figure(0), "run0")
    assert found.reason is None
    assert found.dependence is Dependence.CAUTION


def test_runs_that_fed_no_pool_are_scored_but_do_not_count() -> None:
    found = left_out("P@2", runs=[*RUNS, {1: [2, 1]}], source_of=[0, 1, 2], sources=["a", "b", "c"], depths=[2, 2, 0])
    assert [run.fed for run in found.runs] == [True, True, False]
    # The third run has document 2 as well, but did not bring it into the pool.
    assert found.runs[2].without == 1
    # Without a, it and the first fall to the value of the second: no places are lost by the first.
    assert found.values.mean == Figure(0.25)


def test_people_who_searched_are_a_source_without_runs() -> None:
    runs, grades, entries = joined(RUNS, GRADES)
    contributions = with_searches(
        Contributions.of_tops(runs, [0, 1], ["a", "b"], [2, 2]),
        {"manual": np.array([entries.index((1, 4)), entries.index((1, 1))])},
    )
    [found] = leave_out(["run0", "run1"], [0, 1], runs, grades, contributions, [scoring("R@2")])
    # Of three relevant documents run0 has two; without the manual search there would be two.
    assert [(one.source, one.judged, one.relevant) for one in found.sources] == [
        ("a", 1, 1),
        ("b", 1, 0),
        ("manual", 1, 1),
    ]
    assert found.sources[2].tau == Figure(1)
    who = who_found_what(contributions, grades, 1)
    assert [(one.source, one.judged, one.relevant, one.only_judged, one.only_relevant) for one in who.sources] == [
        ("a", 2, 2, 1, 1),
        ("b", 2, 1, 1, 0),
        ("manual", 2, 2, 1, 1),
    ]
    assert who.sources[0].share_of_relevant == Figure(1 / 3)
    # Documents 2 and 4 have one source each, document 1 has three.
    assert who.relevant_by_sources == (0, 2, 0, 1)
    assert who.found_by_one == Figure(2 / 3)


@pytest.mark.parametrize(
    ("runs", "source_of", "depths", "reason"),
    [
        (RUNS, [0, 0], [2, 2], Missing.ONE_SOURCE),
        (RUNS, [0, 1], [2, 0], Missing.ONE_SOURCE),
        (RUNS, [0, 1], [0, 0], Missing.NO_POOL),
        ([], [], [], Missing.NO_RUN),
    ],
)
def test_what_says_nothing_says_why(
    runs: Lists, source_of: Sequence[int], depths: Sequence[int], reason: Missing
) -> None:
    found = left_out("P@2", runs, source_of, ["a", "b"][: len(set(source_of))], depths)
    assert found.reason is reason
    for one in (found.values, found.shares, found.places):
        assert one == Changes(Figure(None, reason), Figure(None, reason), None)
    assert found.dependence is None


def test_sources_without_runs_feed_a_pool_from_which_nothing_follows_for_runs() -> None:
    runs, grades, _ = joined(RUNS, GRADES)
    searches = {"one": np.array([0]), "other": np.array([1])}
    contributions = with_searches(Contributions.of_tops(runs, [0, 1], ["a", "b"], [0, 0]), searches)
    [found] = leave_out(["run0", "run1"], [0, 1], runs, grades, contributions, [scoring("P@2")])
    assert found.reason is Missing.NO_FED_RUN


def test_runs_that_are_the_same_bring_nothing_alone() -> None:
    found = left_out("P@2", runs=[{1: [1, 2]}, {1: [2, 1]}])
    assert found.dependence is Dependence.NOTHING_TAKEN_OUT
    assert found.values.mean == Figure(0)


def test_one_run_has_no_order_and_a_value_of_0_no_share() -> None:
    one = left_out("P@2", runs=[{1: [1]}], source_of=[0], depths=[1])
    assert one.sources[0].tau == Figure(None, Missing.ONE_RUN)
    nothing = left_out("P@1", runs=[{1: [3]}, {1: [9, 2]}])
    assert nothing.runs[0].relative_change == Figure(None, Missing.ZERO)
    assert nothing.shares.mean == Figure(None, Missing.ZERO)
    assert nothing.values.mean == Figure(0)
    assert nothing.dependence is None


def test_a_measure_that_says_nothing_of_better_has_no_places() -> None:
    found = left_out("NumRet")
    assert [run.places_lost for run in found.runs] == [None, None]
    assert found.places.mean == Figure(None, Missing.NEITHER_BETTER)
    assert found.values.mean == Figure(0)


@pytest.mark.parametrize(
    ("share", "word"),
    [(1.0, Dependence.CAUTION), (0.05, Dependence.NOTICEABLE), (0.01, Dependence.NEGLIGIBLE)],
)
def test_the_word_depends_on_the_mean_share(share: float, word: Dependence) -> None:
    found = left_out("P@2")
    changed = LeftOut(
        found.measure,
        found.runs,
        found.sources,
        found.values,
        Changes(Figure(share), Figure(share), "run0"),
        found.places,
        None,
    )
    assert changed.dependence is word


@pytest.mark.parametrize("word", [*Missing, *Dependence])
def test_what_is_said_can_be_said(word: Missing | Dependence) -> None:
    assert "%%" not in str(word.sentence)
    assert str(word.sentence).endswith(".")


def test_nothing_judged_gives_nothing() -> None:
    runs, grades, _ = joined(RUNS, {1: {1: NOT_GRADED, 2: NOT_GRADED}})
    contributions = Contributions.of_tops(runs, [0, 1], ["a", "b"], [2, 2])
    assert leave_out(["run0", "run1"], [0, 1], runs, grades, contributions, [scoring("AP")]) == ()
    who = who_found_what(contributions, grades, 1)
    assert who.relevant == 0
    assert who.found_by_one == who.sources[0].share_of_relevant == Figure(None, Missing.NOTHING_RELEVANT)
    empty = who_found_what(Contributions((), np.zeros((0, 2), np.bool_)), np.array([1, 1]), 1)
    assert (empty.relevant_by_sources, empty.found_by_one) == ((2,), Figure(0))


def test_pairs_as_stored_are_the_tops_of_runs() -> None:
    runs, _, _ = joined(RUNS, GRADES)
    tops = Contributions.of_tops(runs, [0, 1], ["a", "b"], [2, 2])
    pairs = Contributions.of_pairs(np.array([0, 1, 0, 2, 0]), np.array([0, 0, 1, 1, 1]), ["a", "b"], 4)
    assert tops.has.tolist() == pairs.has.tolist()
    assert tops.only_source.tolist() == [SEVERAL, 0, 1, NOBODY]


def tops(lists: list[dict[int, list[int]]], counts: list[bool], depth: int) -> set[tuple[int, int]]:
    """The topics and documents in the tops of those runs that count."""
    counting = [run for run, counted in zip(lists, counts, strict=True) if counted]
    return {(topic, document) for run in counting for topic in run for document in run[topic][:depth]}


LISTS = st.lists(st.integers(0, 9), unique=True, max_size=8)
RUN_LISTS = st.lists(st.dictionaries(st.sampled_from([1, 2, 3]), LISTS), min_size=1, max_size=5)
QRELS = st.dictionaries(
    st.sampled_from([1, 2, 3]), st.dictionaries(st.integers(0, 9), st.integers(NOT_GRADED, 3), min_size=1), min_size=1
)
MEASURES = ["nDCG@10", "nDCG", "AP", "P@2", "Bpref", "infAP", "xinfAP", "NumRelRet", "Judged@5", "RBPResidual", "GMAP"]


@given(RUN_LISTS, QRELS, st.sampled_from(MEASURES), st.integers(0, 5), st.data(), st.integers(1, 40))
def test_leaving_out_is_scoring_with_qrels_that_lack_the_unique_documents(
    lists: list[dict[int, list[int]]],
    qrels: dict[int, dict[int, int]],
    name: str,
    depth: int,
    data: st.DataObject,
    most_rows: int,
) -> None:
    teams = [data.draw(st.integers(0, 2)) for _ in lists]
    runs, grades, _ = joined(lists, qrels)
    contributions = Contributions.of_tops(runs, teams, ["a", "b", "c"], [depth] * len(lists))
    done: list[None] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ablation, "MOST_ROWS", most_rows)
        tags = [str(number) for number in range(len(lists))]
        found = leave_out(tags, teams, runs, grades, contributions, [scoring(name)], advance=lambda: done.append(None))
        if found:
            assert len(done) == steps_of_leaving_out(runs, grades, contributions)
    known = {topic: {d: g for d, g in of_topic.items() if g >= 0} for topic, of_topic in qrels.items()}
    known = {topic: of_topic for topic, of_topic in known.items() if of_topic}
    assert bool(found) == bool(known)
    for run in found[0].runs if found else ():
        team = teams[int(run.tag)]
        own, others = (tops(lists, [(of == team) is wanted for of in teams], depth) for wanted in (True, False))
        unique = own - others
        short = {topic: {d: g for d, g in known[topic].items() if (topic, d) not in unique} for topic in known}
        arrays = [{topic: np.array(ranking, np.int32) for topic, ranking in one.items()} for one in lists]
        measure = parse_measure(name)
        expected = [score_runs(arrays, some, NUMBERS, [measure], 1, 3).means[:, 0] for some in (known, short)]
        assert run.full == expected[0][int(run.tag)]
        assert run.without == expected[1][int(run.tag)]
        assert run.without_place == 1 + np.count_nonzero(
            scoring(name).order(expected[1]) > scoring(name).order(expected[1])[int(run.tag)]
        )


def test_runs_with_more_rows_than_a_piece_are_pieces_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ablation, "MOST_ROWS", 1)
    runs, grades, _ = joined([{1: [1, 2]}, {}, {1: [1, 3]}], GRADES)
    done: list[None] = []
    kept = [np.ones(4, np.bool_)]
    means = thinned_means(runs, grades, kept, [scoring("P@2")], advance=lambda: done.append(None))
    assert means.tolist() == [[[1, 0, 0.5]]]
    assert len(done) == ablation.steps(runs, 1) > 1
