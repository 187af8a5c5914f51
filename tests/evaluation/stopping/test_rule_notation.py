"""Stopping rules in one line: what is read, how it is written again, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import InvalidValueError
from annotator.evaluation.pooling.pool_choice import stored_strategy
from annotator.evaluation.pooling.pool_selection import still_to_choose
from annotator.evaluation.pooling.strategies import parse_strategy
from annotator.evaluation.stopping.reviewed_topic import ReviewedTopic
from annotator.evaluation.stopping.rule_notation import TAKES, WrittenRule, parse_rule
from annotator.evaluation.stopping.stopping_rules import RULES, Rho, StoppingSettings, StoppingState


@pytest.mark.parametrize(
    ("written", "rule", "again"),
    [
        ("knee", WrittenRule("knee"), "knee"),
        (" Knee ( rho = first ) ", WrittenRule("knee", StoppingSettings(rho=Rho.FIRST)), "knee(rho=first)"),
        ("in-a-row(in-a-row=7)", WrittenRule("in-a-row", StoppingSettings(in_a_row=7)), "in-a-row(in_a_row=7)"),
        ("budget(budget=200)", WrittenRule("budget", StoppingSettings(budget=200)), "budget(budget=200)"),
        ("keep-or-drop()", WrittenRule("keep-or-drop"), "keep-or-drop"),
        ("target-set(target=.9,)", WrittenRule("target-set", StoppingSettings(target=0.9)), "target-set(target=0.9)"),
        (
            "hypergeometric(target=0.9, alpha=0.1)",
            WrittenRule("hypergeometric", StoppingSettings(target=0.9, alpha=0.1)),
            "hypergeometric(target=0.9, alpha=0.1)",
        ),
        (
            "hypergeometric(alpha=0.00005)",
            WrittenRule("hypergeometric", StoppingSettings(alpha=0.00005)),
            "hypergeometric(alpha=0.00005)",
        ),
        ("autostop(target=9e-1)", WrittenRule("autostop", StoppingSettings(target=0.9)), "autostop(target=0.9)"),
        # As it is without settings.
        ("target-set(target=0.8)", WrittenRule("target-set"), "target-set"),
    ],
)
def test_a_rule_is_read_and_written(written: str, rule: WrittenRule, again: str) -> None:
    assert parse_rule(written) == rule
    assert str(rule) == again
    assert parse_rule(again) == rule


def test_every_rule_has_its_settings() -> None:
    assert set(TAKES) == set(RULES)
    assert all(parse_rule(name) == WrittenRule(name) for name in RULES)


@pytest.mark.parametrize("written", ["", "knee(", "knee)", "knee(rho=first))", "50", "knee budget", "(knee)"])
def test_other_text_is_no_rule(written: str) -> None:
    assert parse_rule(written) is None


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("elbow", "There is no stopping rule “elbow”; there are target-set,"),
        ("knee(target=0.9)", "The stopping rule knee takes no target; it takes rho."),
        ("keep-or-drop(budget=9)", "The stopping rule keep-or-drop takes no budget; it takes nothing."),
        ("in-a-row(50)", "The stopping rule in-a-row takes no 50; it takes in_a_row."),
        ("in-a-row(in_a_row=many)", "The stopping rule in-a-row cannot have in_a_row=many."),
        ("in-a-row(in_a_row=0)", "Numbers of documents must be at least 1."),
        ("knee(rho=last)", "The stopping rule knee cannot have rho=last."),
        ("target-set(target=nan)", "The stopping rule target-set cannot have target=nan."),
        ("target-set(target=1)", "The target recall must be between 0 and 1, not 1.0."),
        ("hypergeometric(alpha=0)", "The risk must be between 0 and 1, not 0.0."),
    ],
)
def test_what_a_rule_cannot_have_is_named(written: str, sentence: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        parse_rule(written)
    assert str(refused.value).startswith(sentence)


def test_a_written_rule_decides() -> None:
    topic = ReviewedTopic(np.array([True, False, False, False]), 10)
    assert WrittenRule("in-a-row", StoppingSettings(in_a_row=3)).decide(topic, 0).at == 4
    assert WrittenRule("in-a-row", StoppingSettings(in_a_row=4)).decide(topic, 0).state is StoppingState.GO_ON


@pytest.mark.parametrize(
    "said", [{}, {"budget": 5, "until": "knee"}, {"per_topic": 5, "until": "knee"}, {"budget": 5, "per_topic": 5}]
)
def test_a_strategy_takes_either_a_number_or_a_rule(said: dict[str, str | int]) -> None:
    with pytest.raises(InvalidValueError) as refused:
        parse_strategy("cal", said)
    assert str(refused.value) == (
        "The strategy cal needs exactly one of these: a budget in total (budget), one for each topic (per_topic), or a "
        "stopping rule that ends it (until)."
    )


def test_a_strategy_with_a_rule_is_stored_and_may_choose_everything() -> None:
    strategy = parse_strategy("cal", {"until": "in-a-row(in-a-row=7)"})
    assert strategy.parameters["until"] == "in-a-row(in_a_row=7)"
    assert stored_strategy("cal", {**strategy.parameters, "runs": ["A"]}) == strategy
    assert still_to_choose(strategy, {"1": 30, "2": 4}, {"1": 8, "2": 4}) == {"1": 22, "2": 0}
    with pytest.raises(InvalidValueError, match="Write a stopping rule such as knee"):
        parse_strategy("cal", {"until": "12"})
    with pytest.raises(InvalidValueError, match="takes no until"):
        parse_strategy("mtf", {"until": "knee"})


@given(st.floats(1e-12, 0.999999), st.floats(1e-12, 0.999999))
def test_what_is_written_is_read_again(target: float, alpha: float) -> None:
    rule = WrittenRule("hypergeometric", StoppingSettings(target=target, alpha=alpha))
    assert parse_rule(str(rule)) == rule


def test_documents_before_the_first_choice_are_in_no_row() -> None:
    topic = ReviewedTopic(np.array([False, False, False, True, False, False]), 10)
    rule = WrittenRule("in-a-row", StoppingSettings(in_a_row=3))
    assert rule.decide(topic, 0).at == 3
    assert rule.decide(topic, 2).state is StoppingState.GO_ON
    assert WrittenRule("budget", StoppingSettings(budget=5)).decide(topic, 2).at == 5
