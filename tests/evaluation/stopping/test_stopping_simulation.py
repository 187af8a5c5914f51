"""Stopping rules tried on existing judgements."""

import numpy as np
import pytest

from annotator.errors import InvalidValueError
from annotator.evaluation.stopping.stopping_rules import RULES, StoppingSettings
from annotator.evaluation.stopping.stopping_simulation import OF_SAMPLE, StoppingTrial, try_rules


def topics(count: int, size: int, relevant: int) -> tuple[dict[int, np.ndarray], dict[int, dict[int, bool]]]:
    """Topics whose order has the relevant documents first."""
    order = np.arange(size, dtype=np.int32)
    return dict.fromkeys(range(count), order), {
        topic: {document: document < relevant for document in range(size)} for topic in range(count)
    }


def test_a_rule_by_hand() -> None:
    """30 of 300 documents are relevant and come first: 50 in a row end at 80, and 2 R + 100 at 160."""
    orders, relevant = topics(2, 300, 30)
    outcomes = {one.rule: one for one in try_rules(orders, relevant, StoppingTrial(), seed=1)}
    assert set(outcomes) == set(RULES)
    row = outcomes["in-a-row"]
    assert (row.recall, row.reliability, row.stopped) == (1, 1, 1)
    assert row.judged == pytest.approx(80 / 300)
    assert outcomes["keep-or-drop"].judged == pytest.approx(160 / 300)
    # The ratio is s - 30 and must reach 126: from 156 on, the look at 175.
    assert outcomes["knee"].judged == pytest.approx(175 / 300)


def test_the_sample_counts_as_judged_and_is_drawn_by_the_seed() -> None:
    orders, relevant = topics(4, 200, 60)
    trial = StoppingTrial(StoppingSettings(target=0.6), sample_share=0.5, draws=3)
    first, again, other = (
        {one.rule: one for one in try_rules(orders, relevant, trial, seed=seed)} for seed in (1, 1, 2)
    )
    assert first == again
    assert any(first[rule] != other[rule] for rule in OF_SAMPLE)
    for rule in OF_SAMPLE:
        assert first[rule].judged >= 0.5
        assert first[rule].recall >= 0.6


def test_an_order_without_some_documents_ends_with_them_unfound() -> None:
    orders, relevant = topics(1, 40, 10)
    [outcome] = [one for one in try_rules({0: orders[0][:5]}, relevant, StoppingTrial(), seed=1) if one.rule == "knee"]
    assert (outcome.recall, outcome.judged, outcome.reliability, outcome.stopped) == (0.5, 5 / 40, 0, 0)
    [nothing] = [one for one in try_rules({0: orders[0][:0]}, relevant, StoppingTrial(), seed=1) if one.rule == "knee"]
    assert (nothing.recall, nothing.judged) == (0, 0)


def test_topics_without_a_relevant_document_are_left_out() -> None:
    orders, relevant = topics(1, 300, 30)
    both = try_rules(
        {**orders, 1: orders[0]}, {**relevant, 1: dict.fromkeys(range(300), False)}, StoppingTrial(), seed=1
    )
    assert both == try_rules(orders, relevant, StoppingTrial(), seed=1)


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0, float("nan")])
def test_a_share_out_of_range_is_refused(share: float) -> None:
    with pytest.raises(InvalidValueError):
        StoppingTrial(sample_share=share)
