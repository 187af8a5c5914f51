"""What is pooled of all topics: budgets, depths of runs, and which runs have what was chosen."""

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

import numpy as np
import pytest

from annotator.errors import InvalidValueError
from annotator.evaluation.pooling.pool_choice import (
    WHOLE_LIST,
    ChosenTopic,
    ListsOfTopics,
    choose_topics,
    is_adaptive,
    most_bytes,
    run_depths,
    stored_strategy,
)
from annotator.evaluation.pooling.strategies import STRATEGIES, parse_strategy
from annotator.evaluation.runs.rankings import encode_documents

TOPICS = {1: "T2", 2: "T10"}
# Run 7 and run 9; the second topic was answered by run 9 alone.
LISTS = {1: {7: [1, 2, 3], 9: [2, 4, 5]}, 2: {9: [6, 7, 8, 9]}}


def read(topics: Iterable[int]) -> Iterator[tuple[int, list[tuple[int, bytes, None]]]]:
    for topic in topics:
        yield topic, [(run, encode_documents(np.array(ranked, np.int32)), None) for run, ranked in LISTS[topic].items()]


def docnos_of(documents: AbstractSet[int]) -> dict[int, str]:
    return {document: f"d{document}" for document in documents}


def chosen(name: str, said: dict[str, str | int], own: dict[str, int] | None = None) -> list[ChosenTopic]:
    strategy = parse_strategy(name, said)
    depths = run_depths(strategy, ["seven", "nine"], own or {})
    return choose_topics(strategy, TOPICS, ListsOfTopics(dict(zip((7, 9), depths, strict=True)), read), docnos_of, 1)


def documents(topics: list[ChosenTopic]) -> list[list[str]]:
    return [sorted(topic.docnos) for topic in topics]


def found(topic: ChosenTopic) -> list[tuple[int, int, int]]:
    rows = (topic.found.document.tolist(), topic.found.run.tolist(), topic.found.rank.tolist())
    return sorted(zip(*rows, strict=True))


def test_a_depth_pool_names_the_run_and_the_rank_of_every_document() -> None:
    first, second = chosen("depth", {"depth": 2})
    assert (first.id, first.number, second.number) == (1, "T2", "T10")
    assert documents([first, second]) == [["d1", "d2", "d4"], ["d6", "d7"]]
    # Documents are numbered 1 to 9; runs are the first and the second of those given.
    assert found(first) == [(1, 0, 1), (2, 0, 2), (2, 1, 1), (4, 1, 2)]
    assert found(second) == [(6, 1, 1), (7, 1, 2)]


def test_a_run_may_have_a_depth_of_its_own() -> None:
    assert documents(chosen("depth", {"depth": 1}, {"nine": 3})) == [["d1", "d2", "d4", "d5"], ["d6", "d7", "d8"]]


def test_what_was_fused_is_put_in_by_every_run_that_has_it() -> None:
    first, second = chosen("rrf", {"per_topic": 1})
    assert documents([first, second]) == [["d2"], ["d6"]]
    assert found(first) == [(2, 0, 2), (2, 1, 1)]


def test_a_total_is_divided_evenly_and_its_remainder_goes_to_the_first_topic() -> None:
    assert [len(topic.docnos) for topic in chosen("rrf", {"budget": 5})] == [3, 2]
    assert [len(topic.docnos) for topic in chosen("rrf", {"budget": 100})] == [5, 4]


def test_an_adaptive_strategy_begins_with_the_tops_and_the_runs_that_have_them_there() -> None:
    first, second = chosen("mtf", {"budget": 100, "start_depth": 1})
    assert documents([first, second]) == [["d1", "d2"], ["d6"]]
    # Run 7 has document 2 as well, but below the depth to start with.
    assert found(first) == [(1, 0, 1), (2, 1, 1)]
    assert documents(chosen("mtf", {"budget": 100, "start_depth": 0})) == [[], []]


def test_a_sample_comes_with_its_strata() -> None:
    _, topic = chosen("stratified", {"strata": "1-2:1, 3-4:0.5"})
    top, deep = topic.chosen.strata
    assert (sorted(top.documents.tolist()), top.drawn) == ([6, 7], 2)
    assert (sorted(deep.documents.tolist()), deep.drawn) == ([8, 9], 1)
    assert sorted(topic.chosen.documents.tolist()) == sorted([6, 7, int(deep.documents[0])])


@pytest.mark.parametrize(
    ("name", "said", "own", "sentence"),
    [
        (
            "rrf",
            {"budget": 3},
            {"nine": 2},
            "Runs have depths of their own only with the strategy depth, not with rrf.",
        ),
        ("depth", {"depth": 3}, {"nine": 0}, "The depth of a pool must be 1 or more, not 0."),
    ],
)
def test_depths_that_cannot_be_are_refused(
    name: str, said: dict[str, str | int], own: dict[str, int], sentence: str
) -> None:
    with pytest.raises(InvalidValueError, match=sentence):
        chosen(name, said, own)


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_stored_strategy_is_the_one_that_was_said(name: str) -> None:
    needs = STRATEGIES[name].needs[:1]
    requires = dict.fromkeys(STRATEGIES[name].requires, "llm")
    strategy = parse_strategy(name, {**dict.fromkeys(needs, 7), **requires})
    stored = {**strategy.parameters, "runs": ["a", "b"], "priority": 2, "depth_of": {"a": 3}}
    assert stored_strategy(name, stored) == strategy
    assert is_adaptive(name) == (name in {"mtf", "maxmean", "maxmean-ns", "hedge", "lara", "cal"})


def test_an_import_is_no_strategy() -> None:
    assert not is_adaptive("import")


def test_no_more_of_the_lists_is_read_than_the_deepest_needs() -> None:
    assert most_bytes([3, 10]) == 40
    assert most_bytes([3, WHOLE_LIST]) is None
    assert most_bytes([999_999_999]) is None  # more bytes than a database counts
