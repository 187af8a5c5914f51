"""Scoring whole runs: which topics count, and in which order their values are added."""

import numpy as np
import pytest

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.names import parse_measure
from annotator.evaluation.metrics.scoring import score_runs

AP = parse_measure("AP")
NUM_RET = parse_measure("NumRet")


def documents(*numbers: int) -> np.typing.NDArray[np.int32]:
    return np.array(numbers, np.int32)


def test_a_topic_without_a_list_scores_zero_and_one_outside_the_qrels_counts_for_nothing() -> None:
    runs = [{1: documents(5, 6), 3: documents(5)}, {2: documents(7)}]
    qrels = {1: {6: 1}, 2: {7: 1}}
    scores = score_runs(runs, qrels, {1: "10", 2: "9"}, [AP, NUM_RET], 1)
    assert scores.by_topic(0) == {"10": (0.5, 2.0), "9": (0.0, 0.0)}
    assert scores.means.tolist() == [[0.25, 2.0], [0.5, 1.0]]
    assert scores.missing(0) == ("9",)
    assert scores.missing(1) == ("10",)


def test_means_are_added_in_the_byte_order_of_the_topic_numbers() -> None:
    # Three APs whose sum depends on the order: 1/3 + 1/7 + 1/10 in the order of "1", "10", "9".
    lists = {"1": 3, "9": 10, "10": 7}
    numbers = {1: "1", 2: "9", 3: "10"}
    run = {key: documents(*range(100, 100 + lists[number] - 1), 1) for key, number in numbers.items()}
    scores = score_runs([run], {key: {1: 1} for key in numbers}, numbers, [AP], 1)
    assert scores.means.tolist() == [[((1 / 3 + 1 / 7) + 1 / 10) / 3]]


def test_there_is_no_mean_without_a_topic() -> None:
    with pytest.raises(InvalidValueError, match="no topic"):
        score_runs([{}], {}, {}, [AP], 1)
