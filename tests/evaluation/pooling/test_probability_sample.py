"""A sample with a budget: how strata are laid out, that the budget is kept, and what a second draw keeps."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import InvalidValueError
from annotator.evaluation.estimation.sample_sizes import Allocation
from annotator.evaluation.pooling.pool_choice import choose, within_budget
from annotator.evaluation.pooling.pool_simulation import simulate
from annotator.evaluation.pooling.probability_sample import (
    Known,
    KnownOfTopic,
    MachineGrades,
    divided,
    growing,
    labels_fingerprint,
)
from annotator.evaluation.pooling.strategies import Strategy, parse_strategy
from annotator.evaluation.pooling.topic_runs import TopicRuns, topic_runs

RUNS = st.lists(st.lists(st.integers(0, 39), unique=True, min_size=1, max_size=30), min_size=1, max_size=4)


def numbered(runs: Sequence[Sequence[int]], topic: str = "7") -> TopicRuns:
    docnos = {number: f"D{number:03}" for number in range(1000)}
    return topic_runs(topic, [np.array(run, np.int32) for run in runs], docnos)


def machine(grades: dict[int, int]) -> MachineGrades:
    return MachineGrades(np.array(sorted(grades)), np.array([grades[one] for one in sorted(grades)]))


def sample(**said: str | int) -> Strategy:
    return parse_strategy("sample", {"budget": 100, "certainty_depth": 2, "bands": "5", "depth": 20, **said})


def strata_of(strategy: Strategy, runs: TopicRuns, known: Known, topic: int = 1, seed: int = 3) -> dict[int, list[int]]:
    return {one.number: sorted(one.documents.tolist()) for one in strategy.open_strata(runs, known, topic, seed)}


def test_strata_are_bands_of_ranks_and_in_each_the_grades_of_the_machine() -> None:
    """Ranks 1 and 2 are certain; then ranks 3 to 5 and 6 to 20, each with grades 2, 1, 0 and none: 4 strata."""
    labels = machine({3: 2, 4: 0, 6: 1, 7: 1, 8: 0})
    known = Known({1: KnownOfTopic(machine=labels)}, grades=(2, 1, 0))
    found = strata_of(sample(machine="m"), numbered([range(1, 11)]), known)
    assert found == {1: [1, 2], 2: [3], 4: [4], 5: [5], 7: [6, 7], 8: [8], 9: [9, 10]}
    described = list(sample().layout(known).described())
    assert [one["number"] for one in described] == list(range(1, 10))
    assert described[0] == {"number": 1, "first": 1, "last": 2}
    assert described[6] == {"number": 7, "first": 6, "last": 20, "grade": 1}
    assert described[8] == {"number": 9, "first": 6, "last": 20, "grade": None}


def test_without_a_machine_strata_are_bands_alone() -> None:
    assert strata_of(sample(), numbered([range(1, 11)]), Known()) == {
        1: [1, 2],
        2: [3, 4, 5],
        3: [6, 7, 8, 9, 10],
    }
    assert strata_of(sample(certainty_depth=0), numbered([range(1, 7)]), Known()) == {2: [1, 2, 3, 4, 5], 3: [6]}


def test_what_was_found_otherwise_is_judged_in_any_case_whether_a_run_has_it_or_not() -> None:
    known = Known({1: KnownOfTopic(found=np.array([9, 500], np.int32))})
    strata = sample().open_strata(numbered([range(1, 11)]), known, 1, 3)
    assert sorted(strata[0].documents.tolist()) == [1, 2, 9, 500]
    assert strata[0].taken == 4
    alone = sample(certainty_depth=0).open_strata(numbered([range(1, 4)]), known, 1, 3)
    assert next((one.number, one.documents.tolist()) for one in alone) == (1, [9, 500])


def test_a_second_draw_keeps_the_strata_of_the_first_and_numbers_new_ones_after_them() -> None:
    first = numbered([range(1, 11)])
    [before] = divided([sample(budget=6).open_strata(first, Known(), 1, 3)], 6, Allocation.EQUAL)
    known = Known({1: KnownOfTopic(found=np.array([9], np.int32), earlier=before)}, numbers=3)
    second = sample(budget=12).open_strata(numbered([range(1, 11), [30, 31, 32, 5, 33]]), known, 1, 3)
    assert [(one.number, one.documents.tolist()) for one in second[:3]] == [
        (one.number, one.documents.tolist()) for one in before
    ]
    assert [(one.number, sorted(one.documents.tolist()), one.taken) for one in second[3:]] == [
        (4, [30, 31], 2),
        (5, [32, 33], 0),
    ]
    [after] = divided([second], 12, Allocation.EQUAL)
    assert all(new.drawn >= old.drawn for new, old in zip(after, before, strict=False))
    with pytest.raises(InvalidValueError, match=r"At least 9 documents must be judged: .* those drawn before"):
        divided([second], 6, Allocation.EQUAL)


@given(RUNS, st.integers(12, 60), st.sampled_from(list(Allocation)))
def test_the_budget_is_spent_and_each_stratum_has_a_document(
    runs: list[list[int]], budget: int, how: Allocation
) -> None:
    topics = [sample(depth=30).open_strata(numbered(runs, name), Known(), None, 3) for name in ("1", "2")]
    least = growing(topics, how).least
    drawn = divided(topics, max(budget, least), how)
    every = sum(one.documents.size for strata in topics for one in strata)
    assert sum(one.drawn for strata in drawn for one in strata) == min(max(budget, least), every)
    assert all(one.drawn >= min(one.documents.size, 1) for strata in drawn for one in strata)
    assert all(one.rate == one.drawn / one.documents.size for strata in drawn for one in strata)


@given(RUNS, st.integers(0, 40), st.sampled_from(list(Allocation)))
def test_a_growing_sample_is_the_sample_of_each_budget(runs: list[list[int]], more: int, how: Allocation) -> None:
    topics = [sample(depth=30).open_strata(numbered(runs, name), Known(), None, 3) for name in ("1", "2")]
    grown = growing(topics, how)
    budget = grown.least + more
    drawn = [
        {document for one in strata for document in one.sample.tolist()} for strata in divided(topics, budget, how)
    ]
    by_growing = [
        set(documents[entered <= budget].tolist())
        for documents, entered in zip(grown.documents, grown.entered, strict=True)
    ]
    assert by_growing == drawn


def test_neymans_allocation_draws_more_where_ranks_weigh_more() -> None:
    topics = [numbered([range(100)])]
    strategy = parse_strategy("sample", {"budget": 30, "certainty_depth": 0, "bands": "50", "depth": 100})
    [choice] = within_budget(strategy, [choose(strategy, topics[0], 1)])
    top, deep = choice.strata
    assert top.drawn > deep.drawn
    assert choice.documents.tolist() == [*top.sample.tolist(), *deep.sample.tolist()]


def test_every_document_of_a_stratum_is_drawn_as_often() -> None:
    """Over 600 topics, each of 8 documents, 4 being drawn, is drawn about 300 times: 5 standard errors are 61."""
    counts = np.zeros(8)
    for topic in range(600):
        strata = sample(bands="10").open_strata(numbered([range(10)], str(topic)), Known(), 1, 3)
        [drawn] = divided([strata], 6, Allocation.EQUAL)
        counts[drawn[1].sample - 2] += 1
    assert np.abs(counts - 300).max() < 61


def test_a_machine_needs_its_labels() -> None:
    with pytest.raises(InvalidValueError, match="The grades of the machine “m” are kept by a site"):
        choose(sample(machine="m"), numbered([[1]]), 1)


def test_simulated_it_goes_in_the_order_of_a_growing_budget() -> None:
    runs = numbered([range(1, 11)])
    order = simulate(sample(), runs, dict.fromkeys(range(1, 11), True)).tolist()
    assert sorted(order) == list(range(1, 11))
    assert set(order[:2]) == {1, 2}


def test_the_fingerprint_is_that_of_sorted_lines() -> None:
    r"""`printf '1 a 0\n1 b 2\n' | sha256sum`."""
    lines = [("1", "b", 2), ("1", "a", 0)]
    assert labels_fingerprint(lines) == "bd7c18191912ce0c1aba89fd9b132918bf59a18fad636c9e2c10aa27428ceaa4"
