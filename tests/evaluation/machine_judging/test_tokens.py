"""Estimated tokens, what they cost, and ceilings."""

import pytest

from annotator.errors import InvalidValueError
from annotator.evaluation.machine_judging.tokens import Ceiling, Prices, Tokens, estimated_tokens

PRICES = Prices(2.0, 8.0, "EUR")


def test_tokens_are_estimated_by_bytes() -> None:
    # Four bytes a token, rounded up; a Korean syllable has three bytes.
    assert [estimated_tokens(text) for text in ("", "a", "four", "fives", "가나다라")] == [0, 1, 1, 2, 3]


def test_costs_are_for_a_million_tokens() -> None:
    assert PRICES.cost(Tokens(1_000_000, 500_000)) == 6.0
    assert Prices().cost(Tokens(1, 1)) is None
    assert Tokens(3, 1).plus(Tokens(1, 1)).times(1.5) == Tokens(6, 3)


def test_a_ceiling_allows_what_is_within_it() -> None:
    assert Ceiling().allows(Tokens(10**9, 10**9), PRICES)
    assert Ceiling(tokens=10).allows(Tokens(6, 4), PRICES)
    assert not Ceiling(tokens=10).allows(Tokens(6, 5), PRICES)
    assert Ceiling(cost=2.0).allows(Tokens(1_000_000, 0), PRICES)
    assert not Ceiling(cost=2.0).allows(Tokens(1_000_000, 1), PRICES)


@pytest.mark.parametrize(
    "prices", [Prices(1.0), Prices(None, 1.0), Prices(-1.0, 1.0), Prices(1.0, float("nan")), Prices(currency="x" * 11)]
)
def test_what_are_no_prices_is_refused(prices: Prices) -> None:
    with pytest.raises(InvalidValueError):
        prices.check()


@pytest.mark.parametrize("ceiling", [Ceiling(tokens=0), Ceiling(cost=0.0), Ceiling(cost=float("nan"))])
def test_what_is_no_ceiling_is_refused(ceiling: Ceiling) -> None:
    with pytest.raises(InvalidValueError, match="A ceiling is a number above 0"):
        ceiling.check(PRICES)
    with pytest.raises(InvalidValueError, match="needs the prices"):
        Ceiling(cost=1.0).check(Prices())
