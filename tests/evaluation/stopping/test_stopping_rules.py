"""Rules that say when the judging of a topic may stop."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import InvalidValueError
from annotator.evaluation.stopping.recall_estimates import hypergeometric_cdf
from annotator.evaluation.stopping.reviewed_topic import ReviewedTopic
from annotator.evaluation.stopping.stopping_rules import (
    RULES,
    Certainty,
    Rho,
    StoppingSettings,
    StoppingState,
    decide,
)

STOP, GO_ON = StoppingState.STOP, StoppingState.GO_ON
OF_SAMPLE = ("target-set", "hypergeometric", "autostop")


def reviewed(relevant: Sequence[int], candidates: int = 10_000) -> ReviewedTopic:
    return ReviewedTopic(np.array(relevant, np.bool_), candidates)


def with_sample(sample: Sequence[int], review: Sequence[int], candidates: int, reached: Sequence[int]) -> ReviewedTopic:
    """A topic whose sample is judged first; `reached` is for its documents."""
    size = len(sample) + len(review)
    return ReviewedTopic(
        np.array([*sample, *review], np.bool_),
        candidates,
        np.zeros(size, np.int64),
        np.arange(size) < len(sample),
        ((candidates, len(sample)),),
        np.array([*reached, *([0] * len(review))], np.int64),
    )


def test_batches_grow_by_a_tenth_rounded_up() -> None:
    """Of AutoTAR: 1, 2, 3, ... 10 documents, then 11, 13, 15, 17, 19, 21."""
    looks = reviewed([0] * 160).looks.tolist()
    assert looks == [1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 66, 79, 94, 111, 130, 151]


def test_the_knee_by_hand() -> None:
    """20 relevant documents, then none: at s the ratio is s - 20 and the bound 156 - 20, met from s = 156 on.

    The looks are at 151 and 175.
    """
    assert decide("knee", reviewed([1] * 20 + [0] * 154)).state is GO_ON
    answer = decide("knee", reviewed([1] * 20 + [0] * 300))
    assert (answer.state, answer.at) == (STOP, 175)


@given(st.lists(st.booleans(), max_size=155))
def test_no_knee_counts_before_the_hundredth_document(relevant: list[bool]) -> None:
    """The least number of documents of the paper, beta, follows from the bound."""
    assert decide("knee", reviewed(relevant)).state is GO_ON


def test_the_bound_of_the_first_look_can_be_kept() -> None:
    """156 - 1 there, so that s - 30 must reach 155: from 185 on, the look at 202 instead of that at 175."""
    topic = reviewed([1] * 30 + [0] * 300)
    assert decide("knee", topic).at == 175
    assert decide("knee", topic, StoppingSettings(rho=Rho.FIRST)).at == 202


def test_documents_in_a_row() -> None:
    settings = StoppingSettings(in_a_row=3)
    assert decide("in-a-row", reviewed([1, 0, 0, 1, 0, 0, 0, 1]), settings).at == 7
    assert decide("in-a-row", reviewed([1, 0, 0, 1, 0, 0]), settings).state is GO_ON


@pytest.mark.parametrize(
    ("relevant", "at"),
    [
        ([1] * 10 + [0] * 200, 120),  # 2 * 10 + 100
        ([0] * 150, 100),  # R is 0
        ([1, 0] * 49 + [0] * 200, 198),  # 2 * 49 + 100
        ([1] * 100, 100),  # all relevant: dropped
        ([1] * 10 + [0] * 100, None),
    ],
)
def test_keep_or_drop(relevant: list[int], at: int | None) -> None:
    assert decide("keep-or-drop", reviewed(relevant)).at == at


def test_topics_are_dropped_with_few_or_many_relevant_documents() -> None:
    assert "only 2 of 104" in str(decide("keep-or-drop", reviewed([1, 1] + [0] * 200)).reason)
    assert "60 % or more" in str(decide("keep-or-drop", reviewed([1] * 60 + [0] * 40)).reason)


def test_the_budget_is_a_number_of_documents() -> None:
    settings = StoppingSettings(budget=5)
    assert decide("budget", reviewed([0] * 4), settings).state is GO_ON
    assert decide("budget", reviewed([0] * 9), settings).at == 5


def test_the_budget_of_cormack_and_grossman() -> None:
    """20 relevant of 1,000 candidates: 10 N / R = 500 documents with a ratio of 480; the look after 500 is at 536."""
    topic = reviewed([1] * 20 + [0] * 700, 1_000)
    look = int(topic.looks[topic.looks >= 500][0])
    assert decide("budget", topic).at == look
    # Without any relevant document: three quarters.
    assert decide("budget", reviewed([0] * 800, 1_000)).at == 750
    assert decide("budget", reviewed([0] * 700, 1_000)).state is GO_ON


def test_a_target_set_certifies_when_enough_of_it_is_reached() -> None:
    """20 relevant in the sample: all 20 are needed for recall .8 (Lewis, Yang and Frieder)."""
    sample, review = [1] * 20 + [0] * 80, [0] * 100
    reached = [100 + one for one in range(1, 21)] + [0] * 80
    answer = decide("target-set", with_sample(sample, review, 1_000, reached))
    assert (answer.state, answer.at) == (STOP, 120)
    reached[3] = 0
    answer = decide("target-set", with_sample(sample, review, 1_000, reached))
    assert (answer.state, "19 of the sample's 20" in str(answer.reason)) == (GO_ON, True)


def test_a_target_set_with_few_positives_certifies_nothing() -> None:
    answer = decide("target-set", with_sample([1] * 13 + [0] * 87, [0] * 100, 1_000, [150] * 13 + [0] * 87))
    assert answer.state is StoppingState.CANNOT_CERTIFY
    assert "at least 14" in str(answer.reason)


def test_a_target_set_is_drawn_at_one_rate() -> None:
    two = ReviewedTopic(
        np.array([1, 0], np.bool_), 8, np.array([0, 1]), np.array([True, True]), ((4, 1), (4, 1)), np.array([0, 0])
    )
    assert decide("target-set", two).state is StoppingState.NOT_APPLICABLE
    assert decide("hypergeometric", two).state is GO_ON


@pytest.mark.parametrize("name", OF_SAMPLE)
def test_rules_of_a_sample_need_one(name: str) -> None:
    assert decide(name, reviewed([1, 0, 0])).state is StoppingState.NOT_APPLICABLE


@pytest.mark.parametrize("name", OF_SAMPLE)
def test_rules_of_a_sample_wait_until_it_is_judged(name: str) -> None:
    topic = ReviewedTopic(
        np.array([1, 0], np.bool_), 100, np.zeros(2, np.int64), np.array([True, True]), ((100, 3),), waiting=1
    )
    answer = decide(name, topic)
    assert (answer.state, "1 documents" in str(answer.reason)) == (StoppingState.CANNOT_CERTIFY, True)


def test_the_hypergeometric_rule_by_hand() -> None:
    """None of 5 drawn of 10 is relevant, and all 4 of the review are.

    Six relevant documents would make recall 4/6: P(X = 0) = C(4, 5)/C(10, 5) = 0. Five (recall .8) have C(5, 5)/252.
    """
    topic = with_sample([0] * 5, [1] * 4, 10, [0] * 5)
    answer = decide("hypergeometric", topic, StoppingSettings(target=0.8, alpha=0.05))
    assert answer.state is STOP
    # Three found by n = 8, and up to 3 possible by the sample: P(X = 0 | 3 relevant) = 1/12.
    assert float(hypergeometric_cdf(0, 10, 3, 5)) == pytest.approx(1 / 12)
    assert answer.at == 8


def test_autostop_by_hand() -> None:
    """10 of 100 are drawn and 2 are relevant: about 20 of all. Recall .8 takes 16; 2 are in the sample."""
    topic = with_sample([1, 1] + [0] * 8, [1] * 14, 100, [0] * 10)
    assert decide("autostop", topic).at == 24
    assert decide("autostop", with_sample([1, 1] + [0] * 8, [1] * 13, 100, [0] * 10)).state is GO_ON
    nothing = decide("autostop", with_sample([0] * 10, [0] * 13, 100, [0] * 10))
    assert nothing.state is StoppingState.CANNOT_CERTIFY


def test_the_retrospective_test_by_hand() -> None:
    """10 relevant of 10, then none, of 300 documents; target .8: 13 - 10 = 3 missing ones.

    With n further documents without one p is C(290 - 3, n) / C(290, n); looks at 174 (n = 164 of 290) and so on.
    """
    topic = reviewed([1] * 10 + [0] * 230, 300)
    ps = {int(look): float(hypergeometric_cdf(0, 290, 3, int(look) - 10)) for look in topic.looks.tolist() if look > 10}
    first = min(look for look, p in ps.items() if p <= 0.05)
    assert decide("hypergeometric-retrospective", topic).at == first


def test_the_rest_of_heuristics_ignore_what_was_drawn_at_random() -> None:
    """50 drawn documents without a relevant one are no row; the places count them."""
    topic = with_sample([0] * 50, [1, 0, 0, 0], 500, [0] * 50)
    assert decide("in-a-row", topic, StoppingSettings(in_a_row=3)).at == 54
    assert decide("in-a-row", topic, StoppingSettings(in_a_row=4)).state is GO_ON


@pytest.mark.parametrize("name", list(RULES))
def test_nothing_judged_is_no_reason_to_stop(name: str) -> None:
    assert decide(name, reviewed([], 100)).state is not STOP


@pytest.mark.parametrize("name", list(RULES))
def test_there_is_nothing_left_when_all_candidates_are_judged(name: str) -> None:
    assert decide(name, reviewed([1, 0, 1], 3)).state is STOP


def test_only_rules_of_a_random_sample_give_a_guarantee() -> None:
    guarantees = {name for name, rule in RULES.items() if rule.certainty is Certainty.GUARANTEE}
    assert guarantees == {"target-set", "hypergeometric"}


@given(st.lists(st.booleans(), min_size=1, max_size=250), st.sampled_from(sorted(RULES)))
def test_a_decision_to_stop_stays_when_more_is_judged(relevant: list[bool], name: str) -> None:
    whole = decide(name, reviewed(relevant, 400))
    for judged in range(1, len(relevant)):
        part = decide(name, reviewed(relevant[:judged], 400))
        if part.state is STOP:
            assert whole.at == part.at
            assert part.at is not None
            assert part.at <= judged


@given(st.data(), st.sampled_from(OF_SAMPLE))
def test_a_decision_by_a_sample_knows_only_what_was_judged_by_then(data: st.DataObject, name: str) -> None:
    size = data.draw(st.integers(4, 60))
    relevant = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    drawn = data.draw(st.integers(1, size - 1))
    settings = StoppingSettings(target=0.6, alpha=0.2)
    reached = np.where(np.arange(size) < drawn, drawn + np.arange(size) // 2, 0)

    def judged(number: int) -> ReviewedTopic:
        places = np.arange(number)
        met = np.where(reached[:number] <= number, reached[:number], 0)
        return ReviewedTopic(
            relevant[:number], size + 20, np.zeros(number, np.int64), places < drawn, ((size + 20, drawn),), met
        )

    whole = decide(name, judged(size), settings)
    for number in range(drawn, size):
        part = decide(name, judged(number), settings)
        assert part.state is not STOP or part.at == whole.at


def test_the_guarantees_hold_in_simulation() -> None:
    """300 topics: a sample of 120 of 400 judged first, then an order with most relevant documents early."""
    generator = np.random.default_rng(5)
    stops = {"target-set": 0, "hypergeometric": 0}
    misses = dict(stops)
    for _ in range(300):
        relevant = generator.random(400) < np.linspace(0.5, 0.1, 400)
        drawn = np.zeros(400, np.bool_)
        drawn[generator.choice(400, 120, replace=False)] = True
        order = np.concatenate([np.flatnonzero(drawn), np.flatnonzero(~drawn)])
        before = np.cumsum(~drawn)
        topic = ReviewedTopic(
            relevant[order],
            400,
            np.zeros(400, np.int64),
            drawn[order],
            ((400, 120),),
            np.where(drawn[order], 120 + np.maximum(before[order], 0), 0),
        )
        for name in stops:
            answer = RULES[name].decide(topic, StoppingSettings(target=0.7))
            if answer.at is not None:
                stops[name] += 1
                misses[name] += topic.found[answer.at - 1] < 0.7 * relevant.sum()
    assert min(stops.values()) > 200
    assert max(misses.values()) <= 0.05 * 300


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: StoppingSettings(target=0.0),
        lambda: StoppingSettings(target=1.0),
        lambda: StoppingSettings(alpha=0.0),
        lambda: StoppingSettings(alpha=1.5),
        lambda: StoppingSettings(in_a_row=0),
        lambda: StoppingSettings(budget=0),
    ],
)
def test_settings_out_of_range_are_refused(wrong: Callable[[], StoppingSettings]) -> None:
    with pytest.raises(InvalidValueError):
        wrong()


def test_an_unknown_rule_is_named() -> None:
    with pytest.raises(InvalidValueError, match="no stopping rule “elbow”; there are target-set, hypergeometric"):
        decide("elbow", reviewed([1]))
