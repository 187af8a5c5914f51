"""The registry of strategies: names, parameters and refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import InvalidValueError
from annotator.evaluation.pooling.adaptive import Update
from annotator.evaluation.pooling.parameters import PARAMETERS
from annotator.evaluation.pooling.pool_choice import stored_strategy
from annotator.evaluation.pooling.pool_simulation import simulate
from annotator.evaluation.pooling.strata import Band
from annotator.evaluation.pooling.strategies import STRATEGIES, Strategy, StrategyKind, parse_strategy
from annotator.evaluation.pooling.topic_runs import Ties, distinct, topic_runs

NEEDED: dict[StrategyKind, dict[str, str | int]] = {
    StrategyKind.DEPTH: {"depth": 10},
    StrategyKind.ORDER: {"budget": 10},
    StrategyKind.ADAPTIVE: {"budget": 10},
    StrategyKind.SAMPLE: {},
}


@pytest.mark.parametrize("name", STRATEGIES)
def test_what_is_stored_of_a_strategy_reads_back_the_same(name: str) -> None:
    said = {"budget": 10} if name == "sample" else NEEDED[STRATEGIES[name].kind]
    strategy = parse_strategy(name, {**said, **dict.fromkeys(STRATEGIES[name].requires, "llm")})
    assert stored_strategy(strategy.name, strategy.parameters) == strategy
    stored = {key: value for key, value in strategy.parameters.items() if key in strategy.definition.takes}
    assert parse_strategy(name.upper(), stored) == strategy


def test_a_pool_that_was_built_before_defaults_changed_chooses_as_it_did() -> None:
    recorded = {"budget": 5, "ties": "rrf", "start_depth": 10, "runs": ["a", "b"]}
    assert stored_strategy("maxmean-ns", {**recorded, "update": "all"}).ties is Ties.RRF
    assert stored_strategy("hedge", recorded).decimals is None
    now = parse_strategy("hedge", {"budget": 5})
    assert now.parameters["decimals"] == now.decimals == 9
    with pytest.raises(InvalidValueError, match="takes no decimals"):
        parse_strategy("hedge", {"budget": 5, "decimals": 3})


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_strategy_explains_itself_in_one_sentence_and_names_its_origin(name: str) -> None:
    definition = STRATEGIES[name]
    assert definition.sentence.endswith(".")
    assert len(definition.help) > len(definition.sentence) + 100
    assert any(str(year) in definition.help for year in range(1975, 2026))


def test_every_parameter_is_one_that_some_strategy_takes() -> None:
    assert {parameter for definition in STRATEGIES.values() for parameter in definition.takes} == set(PARAMETERS)


def test_what_is_not_said_is_what_the_field_does() -> None:
    assert parse_strategy("maxmean", {"budget": "500"}) == Strategy(
        "maxmean", budget=500, start_depth=10, update=Update.ALL, ties=Ties.RRF
    )
    assert parse_strategy("stratified", {}).strata == (Band(1, 10, 1), Band(11, 50, 0.2), Band(51, 100, 0.05))


def test_what_is_said_is_kept() -> None:
    said: dict[str, str | int] = {
        "per_topic": "20",
        "start_depth": 0,
        "update": "Pulled",
        "ties": "first-run",
        "depth": 100,
    }
    assert parse_strategy("maxmean-ns", said) == Strategy(
        "maxmean-ns", depth=100, per_topic=20, update=Update.PULLED, ties=Ties.FIRST_RUN
    )


def test_a_depth_pool_simulated_is_one_that_grows_rank_by_rank() -> None:
    # Ranks 1: a, b; ranks 2: b, g; ranks 3: c, h. Of the first two, b weighs more (1/61 + 1/62). Nobody judged g.
    runs = topic_runs(
        "7", [np.array(run, np.int32) for run in ([1, 2, 3], [2, 7, 8])], dict(enumerate("_abcdefgh")), depth=3
    )
    judged = {1: True, 2: False, 3: False, 8: True}
    assert simulate(parse_strategy("depth", {"depth": 3}), runs, judged).tolist() == [2, 1, 3, 8]
    assert simulate(parse_strategy("depth", {"depth": 3}), runs, judged, most=2).tolist() == [2, 1]


@pytest.mark.parametrize(
    ("name", "said", "depth"),
    [
        ("depth", {"depth": 7}, 7),
        ("rrf", {"budget": 5}, None),
        ("hedge", {"budget": 5, "depth": 100}, 100),
        ("stratified", {"strata": "1-10:1, 11-60:0.5"}, 60),
        ("sample", {"budget": 5}, 100),
    ],
)
def test_how_deep_a_strategy_looks_into_runs(name: str, said: dict[str, str | int], depth: int | None) -> None:
    assert parse_strategy(name, said).candidate_depth == depth


@pytest.mark.parametrize(
    ("name", "said", "message"),
    [
        ("maxmen", {}, "There is no strategy “maxmen”; the nearest names are: maxmean, maxmean-ns."),
        ("qqq", {}, "There is no strategy “qqq”; the strategies are: depth, rrf, .*, stratified, sample."),
        ("sample", {}, "The strategy sample needs a budget: how many documents are to be judged in total."),
        ("sample", {"budget": 5, "per_topic": 5}, "The strategy sample takes no per_topic"),
        ("sample", {"budget": 5, "bands": "10, 5"}, "The bands must be ascending ranks such as 10, 30, not “10, 5”."),
        ("sample", {"budget": 5, "bands": "10,,5"}, "The bands must be ascending ranks"),
        ("sample", {"budget": 5, "certainty_depth": -1}, "The certainty depth must be a whole number from 0"),
        ("sample", {"budget": 5, "allocation": "best"}, "must be neyman, proportional or equal, not “best”."),
        ("sample", {"budget": 5, "machine": ""}, "The name of a machine judge is missing."),
        ("depth", {}, "The strategy depth needs a depth."),
        ("depth", {"depth": 7, "budget": 9}, "The strategy depth takes no budget; it takes depth."),
        ("rrf", {}, "The strategy rrf needs a budget: how many"),
        ("rrf", {"budget": 5, "start_depth": 3}, "The strategy rrf takes no start_depth"),
        ("mtf", {"budget": 5, "per_topic": 3}, "in total or one for each topic, not both"),
        ("mtf", {"budget": 5, "update": "all"}, "The strategy mtf takes no update"),
        ("maxmean", {"budget": 5, "update": "some"}, "The update must be all or pulled, not “some”."),
        ("maxmean", {"budget": 5, "ties": "docno"}, "The ties must be rrf, first-run or random, not “docno”."),
        ("maxmean", {"budget": 0}, "The budget must be a whole number from 1 to 999999999, not “0”."),
        ("maxmean", {"budget": "1e3"}, "not “1e3”"),
        ("maxmean", {"budget": "²"}, "not “²”"),
        ("maxmean", {"budget": "1000000000"}, "not “1000000000”"),
        ("maxmean", {"per_topic": "-1"}, "The budget of a topic must be a whole number"),
        ("maxmean", {"budget": 5, "start_depth": -1}, "The depth to start with must be a whole number from 0"),
        ("depth", {"depth": ""}, "The depth must be a whole number from 1 to 999999999, not “”."),
        ("stratified", {"strata": "1-10"}, "The stratum “1-10” cannot be read"),
    ],
)
def test_what_makes_no_sense_is_refused(name: str, said: dict[str, str | int], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        parse_strategy(name, said)


@given(numbers=st.lists(st.integers(0, 30) | st.integers(2**31 - 40, 2**31 - 1), max_size=40))
@pytest.mark.parametrize("spread", [1, 1_000])
def test_distinct_numbers_are_those_of_sorting(spread: int, numbers: list[int]) -> None:
    given_numbers = np.array([number * spread % 2**31 for number in numbers], np.int32)
    found, index_of = distinct(given_numbers)
    assert found.dtype == np.int32
    assert found.tolist() == sorted(set(given_numbers.tolist()))
    assert found[index_of].tolist() == given_numbers.tolist()
