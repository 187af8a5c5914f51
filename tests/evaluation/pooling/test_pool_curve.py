"""The curve of a plan says, at every point, what building that very pool would give."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from thorough import examples

from annotator.evaluation.pooling.pool_choice import (
    WHOLE_LIST,
    ChosenTopic,
    ListsOfTopics,
    ReadTops,
    choose_topics,
    run_depths,
)
from annotator.evaluation.pooling.pool_curve import (
    LEAST_DEPTHS,
    POINTS,
    AllTaken,
    PlanMemory,
    PoolCurve,
    curve_of_budgets,
    curve_of_depths,
)
from annotator.evaluation.pooling.strategies import Strategy, parse_strategy
from annotator.evaluation.runs.rankings import encode_documents, encode_scores

RUNS = 4
TEAMS = [0, 0, 1, 2]
NUMBERS = {11: "1", 12: "2", 13: "3"}
# Of each topic and run: the documents, best first; an empty list is a topic that the run leaves out.
LISTS = st.fixed_dictionaries(
    {
        topic: st.lists(st.lists(st.integers(1, 12), unique=True, max_size=9), min_size=RUNS, max_size=RUNS)
        for topic in NUMBERS
    }
)
PRESENT = st.fixed_dictionaries({topic: st.sets(st.integers(1, 14)) for topic in NUMBERS})
Lists = Mapping[int, Sequence[Sequence[int]]]


def docnos_of(documents: AbstractSet[int]) -> dict[int, str]:
    return {document: f"doc-{document % 5}-{document}" for document in documents}


def scores(ranked: Sequence[int]) -> bytes:
    return encode_scores(-np.arange(len(ranked), dtype=np.float64))


def reader(
    lists: Lists,
    depths: Sequence[int] = (WHOLE_LIST,) * RUNS,
    *,
    with_scores: bool = False,
    read_tops: ReadTops | None = None,
) -> ListsOfTopics:
    def read(topics: Iterable[int]) -> Iterator[tuple[int, list[tuple[int, bytes, bytes | None]]]]:
        for topic in topics:
            packed = [
                (100 + run, encode_documents(np.array(ranked, np.int32)), scores(ranked) if with_scores else None)
                for run, ranked in enumerate(lists[topic])
                if ranked
            ]
            if packed:
                yield topic, packed

    return ListsOfTopics({100 + run: depth for run, depth in enumerate(depths)}, read, read_tops=read_tops)


def built(strategy: Strategy, lists: Lists, own: Mapping[str, int] | None = None) -> list[ChosenTopic]:
    depths = run_depths(strategy, [f"r{run}" for run in range(RUNS)], own or {})
    read = reader(lists, depths, with_scores=strategy.definition.reads_scores)
    return choose_topics(strategy, NUMBERS, read, docnos_of, seed=1)


def only(chosen: Sequence[ChosenTopic], holders: Sequence[int]) -> list[int]:
    """How many documents each of the holders, runs or teams, alone puts in."""
    counts = [0] * (max(holders) + 1)
    for topic in chosen:
        for document in topic.chosen.documents.tolist():
            has_it = {holders[run] for run in topic.found.run[topic.found.document == document].tolist()}
            if len(has_it) == 1:
                counts[has_it.pop()] += 1
    return counts


def check(curve: PoolCurve, at: int, chosen: Sequence[ChosenTopic], present: Mapping[int, set[int]]) -> None:
    documents = {topic.id: set(topic.chosen.documents.tolist()) for topic in chosen}
    for row, topic in enumerate(NUMBERS):
        assert curve.added[row, at] == len(documents.get(topic, set()) - present[topic])
    assert not curve.to_come.any()
    assert curve.only_run[:, at].tolist() == only(chosen, range(RUNS))
    assert curve.only_team[:, at].tolist() == only(chosen, TEAMS)


def as_present(present: Mapping[int, set[int]]) -> dict[int, NDArray[np.int32]]:
    return {topic: np.array(sorted(each), np.int32) for topic, each in present.items()}


@settings(max_examples=examples(20))
@given(lists=LISTS, present=PRESENT, depth=st.integers(1, 6))
def test_a_curve_of_depths_is_what_would_be_built(lists: Lists, present: dict[int, set[int]], depth: int) -> None:
    curve = curve_of_depths(NUMBERS, reader(lists), TEAMS, as_present(present), depth=depth, own_depths={})
    assert (curve.grows, curve.amounts[curve.asked]) == ("depth", depth)
    for at, amount in enumerate(curve.amounts.tolist()):
        check(curve, at, built(parse_strategy("depth", {"depth": amount}), lists), present)


@settings(max_examples=examples(20))
@given(lists=LISTS, present=PRESENT, own=st.integers(1, 6))
def test_a_run_with_a_depth_of_its_own_keeps_it_along_the_curve(
    lists: Lists, present: dict[int, set[int]], own: int
) -> None:
    depths = (LEAST_DEPTHS, own, LEAST_DEPTHS, LEAST_DEPTHS)
    curve = curve_of_depths(NUMBERS, reader(lists, depths), TEAMS, as_present(present), depth=2, own_depths={1: own})
    for at, amount in enumerate(curve.amounts.tolist()):
        check(curve, at, built(parse_strategy("depth", {"depth": amount}), lists, {"r1": own}), present)


@settings(max_examples=examples(40))
@given(lists=LISTS, present=PRESENT, top=st.integers(3, 9), own=st.integers(1, 9), together=st.integers(1, 3))
def test_a_curve_is_the_same_from_tops_that_are_stored_with_those_of_other_topics(
    lists: Lists, present: dict[int, set[int]], top: int, own: int, together: int
) -> None:
    def read_tops(topics: Iterable[int]) -> Iterator[tuple[set[int], list[tuple[int, bytes, bytes, bytes]]]]:
        wanted = sorted(topics, reverse=True)
        for begin in range(0, len(wanted), together):
            some = wanted[begin : begin + together]
            yield set(some), [packed_tops(run, {20: [5] * top, **tops_of(run, some)}) for run in range(RUNS)]

    def tops_of(run: int, topics: Iterable[int]) -> dict[int, Sequence[int]]:
        return {topic: lists[topic][run][:top] for topic in topics if lists[topic][run]}

    depths = (top, min(own, top), top, top)
    whole, tops = (
        curve_of_depths(NUMBERS, read, TEAMS, as_present(present), depth=2, own_depths={1: depths[1]})
        for read in (reader(lists, depths), reader(lists, depths, read_tops=read_tops))
    )
    assert (whole.asked, whole.amounts.tolist()) == (tops.asked, tops.amounts.tolist())
    for name in ("added", "only_run", "only_team"):
        assert getattr(whole, name).tolist() == getattr(tops, name).tolist()


def packed_tops(run: int, tops: Mapping[int, Sequence[int]]) -> tuple[int, bytes, bytes, bytes]:
    columns = list(tops), [4 * len(top) for top in tops.values()], [one for top in tops.values() for one in top]
    topics, sizes, documents = (encode_documents(np.array(column, np.int32)) for column in columns)
    return 100 + run, topics, sizes, documents


@settings(max_examples=examples(20))
@given(lists=LISTS, present=PRESENT, amount=st.integers(1, 30))
@pytest.mark.parametrize("counted", ["budget", "per_topic"])
@pytest.mark.parametrize("name", ["rrf", "combmnz"])
def test_a_curve_of_budgets_is_what_would_be_built(
    name: str, counted: str, lists: Lists, present: dict[int, set[int]], amount: int
) -> None:
    strategy = parse_strategy(name, {counted: amount, "depth": 7})
    depths = run_depths(strategy, [""] * RUNS, {})
    read = reader(lists, depths, with_scores=strategy.definition.reads_scores)
    curve = curve_of_budgets(strategy, NUMBERS, read, TEAMS, as_present(present), docnos_of=docnos_of, seed=1)
    assert (curve.grows, curve.amounts[curve.asked], curve.amounts[-1]) == (counted, amount, 2 * amount)
    for at, each in enumerate(curve.amounts.tolist()):
        check(curve, at, built(parse_strategy(name, {counted: each, "depth": 7}), lists), present)


@settings(max_examples=examples(20))
@given(lists=LISTS, present=PRESENT)
def test_a_sample_is_one_pool_alone(lists: Lists, present: dict[int, set[int]]) -> None:
    strategy = parse_strategy("stratified", {"strata": "1-2:1, 3-7:0.3"})
    depths = run_depths(strategy, [""] * RUNS, {})
    curve = curve_of_budgets(
        strategy, NUMBERS, reader(lists, depths), TEAMS, as_present(present), docnos_of=docnos_of, seed=1
    )
    assert (curve.grows, curve.amounts.size) == (None, 1)
    check(curve, 0, built(strategy, lists), present)


@settings(max_examples=examples(20))
@given(lists=LISTS, present=PRESENT, amount=st.integers(1, 30))
def test_of_an_adaptive_strategy_the_beginning_is_known_and_how_many_come_after(
    lists: Lists, present: dict[int, set[int]], amount: int
) -> None:
    strategy = parse_strategy("mtf", {"budget": amount, "start_depth": 2})
    curve = curve_of_budgets(strategy, NUMBERS, reader(lists), TEAMS, as_present(present), docnos_of=docnos_of, seed=1)
    chosen = built(strategy, lists)
    begun = {topic.id: set(topic.chosen.documents.tolist()) for topic in chosen}
    new = sum(len(documents - present[topic]) for topic, documents in begun.items())
    left = sum(
        len({one for ranked in lists[topic] for one in ranked} - present[topic] - begun.get(topic, set()))
        for topic in NUMBERS
    )
    assert curve.to_come[:, curve.asked].sum() == min(amount, left)
    assert curve.added[:, curve.asked].sum() == new + min(amount, left)
    assert curve.only_run[:, curve.asked].tolist() == only(chosen, range(RUNS))


def test_a_curve_has_as_many_points_as_a_screen_shows() -> None:
    lists = {topic: [[1, 2], [2, 3], [], [4]] for topic in NUMBERS}
    strategy = parse_strategy("rrf", {"budget": 12_345})
    curve = curve_of_budgets(strategy, NUMBERS, reader(lists), TEAMS, {}, docnos_of=docnos_of, seed=1)
    assert curve.amounts.size == POINTS
    assert curve.added.sum(axis=0)[-1] == 4 * len(NUMBERS)


@pytest.mark.parametrize(
    ("said", "made", "expected"),
    [
        # Two of five in total are chosen: three are left, the shares of three and two being two and none there.
        ({"budget": 5}, {11: 2}, {11: 1, 12: 2}),
        # What was chosen of a topic that is gone is spent, too.
        ({"budget": 5}, {99: 4}, {11: 1, 12: 0}),
        ({"budget": 5}, {11: 9}, {11: 0, 12: 0}),
        ({"per_topic": 3}, {11: 2}, {11: 1, 12: 3}),
    ],
)
def test_what_an_adaptive_strategy_has_chosen_before_is_of_its_budget(
    said: Mapping[str, int], made: Mapping[int, int], expected: Mapping[int, int]
) -> None:
    lists = {topic: [list(range(1, 10)), [], [], []] for topic in (11, 12)}
    topics = {11: "1", 12: "2"}
    strategy = parse_strategy("mtf", {**said, "start_depth": 0})
    curve = curve_of_budgets(strategy, topics, reader(lists), TEAMS, {}, docnos_of=docnos_of, seed=1, made=made)
    assert dict(zip(topics, curve.to_come[:, curve.asked].tolist(), strict=True)) == expected


@pytest.mark.parametrize("name", ["rrf", "mtf", "stratified"])
def test_what_runs_decide_is_taken_once_and_set_beside_what_is_pooled_by_then(name: str) -> None:
    strategy = parse_strategy(name, {} if name == "stratified" else {"per_topic": 2})
    lists: Lists = {11: [[1, 2, 3], [2, 4], [], []], 12: [[], [], [], []], 13: [[5], [], [6], []]}
    memory, reads = PlanMemory(), 0

    def drawn(present: Mapping[int, set[int]]) -> PoolCurve:
        def recall(further: Strategy, take: Callable[[], AllTaken]) -> AllTaken:
            def reading() -> AllTaken:
                nonlocal reads
                reads += 1
                return take()

            return memory.recall(further, reading)

        pooled = as_present(present)
        return curve_of_budgets(
            strategy, NUMBERS, reader(lists), TEAMS, pooled, docnos_of=docnos_of, seed=1, recall=recall
        )

    empty, filled = drawn({}), drawn({11: {2}})
    fresh = curve_of_budgets(
        strategy, NUMBERS, reader(lists), TEAMS, as_present({11: {2}}), docnos_of=docnos_of, seed=1
    )
    assert reads == 1
    assert empty.added.tolist() != filled.added.tolist() == fresh.added.tolist()
    assert filled.to_come.tolist() == fresh.to_come.tolist()
