"""Adaptive strategies: what they choose next from the judgements so far, why, and that it can be replayed."""

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import examples

from annotator.evaluation.pooling.adaptive import Adaptive, Hedge, Verdict, explain
from annotator.evaluation.pooling.pool_simulation import simulate
from annotator.evaluation.pooling.strategies import STRATEGIES, Strategy, StrategyKind, parse_strategy
from annotator.evaluation.pooling.topic_runs import TopicRuns, topic_runs

NAMES = [name for name, definition in STRATEGIES.items() if definition.kind is StrategyKind.ADAPTIVE]
UPDATES = [(name, update) for name in ("maxmean", "maxmean-ns") for update in ("all", "pulled")]
SAID = [{"name": "mtf"}, {"name": "hedge"}, *({"name": name, "update": update} for name, update in UPDATES)]
# Each strategy has its own examples.
few_examples = settings(max_examples=examples(25))
each_strategy = pytest.mark.parametrize("said", SAID, ids=lambda said: " ".join(said.values()))
RUNS = st.lists(st.lists(st.integers(0, 14), unique=True, max_size=12), max_size=6)
# Whether each document is relevant; None: it cannot be judged.
VERDICTS = st.lists(st.sampled_from([True, False, None]), min_size=15, max_size=15)

# Three runs whose orders another program computed for this project: ties to the first run, a, b, g and k relevant.
FIXTURE = ["abcdef", "bghaij", "klmnob"]
RELEVANT = "abgk"
SEED = 1


def strategy(said: dict[str, str], **more: str | int) -> Strategy:
    parameters = {key: value for key, value in said.items() if key != "name"}
    return parse_strategy(said["name"], {"budget": 100, "start_depth": 0, **parameters, **more})


def of_letters(runs: Sequence[str]) -> TopicRuns:
    numbers = [[ord(letter) for letter in run] for run in runs]
    docnos = {number: chr(number) for run in numbers for number in run}
    return topic_runs("7", [np.array(run, np.int32) for run in numbers], docnos)


def numbered(runs: Sequence[Sequence[int]], numbers: Sequence[int] = range(15)) -> TopicRuns:
    docnos = {number: f"D{name:02}" for name, number in enumerate(numbers)}
    return topic_runs("7", [np.array([numbers[name] for name in run], np.int32) for run in runs], docnos)


def judged(state: Adaptive, verdicts: str, *, relevant: str = "") -> None:
    state.learn(Verdict(ord(letter), letter in relevant) for letter in verdicts)


def chosen(state: Adaptive, count: int = 1, out: str = "") -> str:
    return "".join(chr(choice.document) for choice in state.choose(count, map(ord, out)))


def in_full(state: Adaptive, relevant: Sequence[bool | None]) -> list[int]:
    """Every choice until nothing is left, each judged before the next."""
    order = []
    while choices := state.choose():
        order.append(choices[0].document)
        state.learn([Verdict(choices[0].document, relevant[choices[0].document], choices[0].run)])
    return order


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"name": "mtf"}, "abcghkldijmenfo"),
        ({"name": "maxmean"}, "abcghikldmjenfo"),
        ({"name": "maxmean", "update": "pulled"}, "abcdeghiklmfjno"),
        ({"name": "maxmean-ns"}, "abcghkldefijmno"),
        ({"name": "maxmean-ns", "update": "pulled"}, "abcghkldefijmno"),
        ({"name": "hedge"}, "bacghidjeklmfno"),
    ],
)
def test_the_fixture_of_three_runs(said: dict[str, str], expected: str) -> None:
    relevant = {ord(letter): letter in RELEVANT for letter in expected}
    order = simulate(strategy(said, ties="first-run"), of_letters(FIXTURE), relevant)
    assert "".join(map(chr, order)) == expected


def test_move_to_front_stays_with_a_run_until_it_misses() -> None:
    state = strategy({"name": "mtf"}).begin(of_letters(["abc", "xyz"]), SEED)
    assert chosen(state) == "a"  # a and x weigh the same, and a is the lesser docno
    judged(state, "a", relevant="a")
    assert chosen(state) == "x"  # both runs are in front, and x at rank 1 weighs more than b at rank 2
    judged(state, "x")
    assert chosen(state) == "b"
    judged(state, "b", relevant="b")
    assert chosen(state) == "c"
    assert dict(state.choose()[0].reason) == {"rank": 3, "misses": 0}


def test_move_to_front_rewards_a_run_for_a_document_known_to_be_relevant() -> None:
    # k was judged relevant before it was ever chosen. Both runs have missed once, and b goes before k by its docno;
    # when b is missed too, run 2 comes to k and is in front again.
    state = strategy({"name": "mtf"}).begin(of_letters(["abc", "xkz"]), SEED)
    judged(state, "kax", relevant="k")
    assert chosen(state) == "b"
    judged(state, "b")
    assert chosen(state) == "z"
    assert dict(state.choose()[0].reason) == {"rank": 3, "misses": 0}


@given(RUNS, VERDICTS, st.randoms(use_true_random=False))
def test_move_to_front_does_not_ask_in_which_order_judgements_came(
    runs: list[list[int]], relevant: list[bool | None], shuffle: Random
) -> None:
    documents = shuffle.sample(range(15), 7)
    one, other = (strategy({"name": "mtf"}).begin(numbered(runs), SEED) for _ in range(2))
    one.learn(Verdict(document, relevant[document]) for document in documents)
    for document in reversed(documents):
        other.learn([Verdict(document, relevant[document])])
        other.choose()
    assert one.choose(15) == other.choose(15)


def test_maxmean_counts_a_judgement_for_every_run_that_has_the_document() -> None:
    # a is in both runs: 1 relevant of 1 makes (1 + 1) / (2 + 1). c, only in run 1, is not: run 1 falls to 2 / 4.
    state = strategy({"name": "maxmean"}).begin(of_letters(["acdz", "axyz"]), SEED)
    judged(state, "ac", relevant="a")
    choice = state.choose()[0]
    assert (chr(choice.document), choice.run, dict(choice.reason)) == ("x", 1, {"rank": 2, "alpha": 2, "beta": 1})


def test_maxmean_can_count_a_judgement_for_the_run_it_is_from_alone() -> None:
    state = strategy({"name": "maxmean"}, update="pulled").begin(of_letters(["acd", "axy"]), SEED)
    state.learn([Verdict(ord("a"), is_relevant=True, run=0)])
    assert dict(state.choose()[0].reason) == {"rank": 2, "alpha": 2, "beta": 1}
    assert chosen(state) == "c"


def test_a_judgement_from_no_run_counts_for_every_run_even_then() -> None:
    # a counts for both runs; c is run 1's, which falls to 2 / 4 below run 2's 2 / 3.
    state = strategy({"name": "maxmean"}, update="pulled").begin(of_letters(["acd", "axy"]), SEED)
    judged(state, "ac", relevant="a")
    assert chosen(state) == "x"
    assert dict(state.choose()[0].reason) == {"rank": 2, "alpha": 2, "beta": 1}


def test_non_stationary_maxmean_remembers_the_last_judgement_alone() -> None:
    state = strategy({"name": "maxmean-ns"}).begin(of_letters(["abcd", "xyzw"]), SEED)
    judged(state, "abcx", relevant="abx")
    assert dict(state.choose()[0].reason) == {"rank": 2, "alpha": 2, "beta": 1}
    assert chosen(state) == "y"


def test_hedge_shifts_trust_by_a_tenth_to_the_power_of_what_was_said() -> None:
    # c = 2 candidates. Run 1 says ln(2/1)/2 = 0.3466 of a and ln(2/2)/2 = 0 of b; run 2 has only b, says 0.3466 of it,
    # and of a the mean over the rank it did not use, 0. a is relevant: run 1's trust is 0.1^-0.34657 = 2.2211 times
    # run 2's, which leaves it 2.2211 / 3.2211 = 0.68955. For b then speak 0.68955 * 0 + 0.31045 * 0.34657 = 0.10759.
    state = strategy({"name": "hedge"}).begin(of_letters(["ab", "b"]), SEED)
    judged(state, "a", relevant="a")
    choice = state.choose()[0]
    assert (chr(choice.document), choice.run) == ("b", 1)
    assert dict(choice.reason) == pytest.approx({"rank": 1, "weight": 0.10759, "trust": 0.31045}, abs=1e-5)


def test_hedge_keeps_its_trust_in_numbers_after_very_many_judgements() -> None:
    documents = range(3000)
    docnos = {number: f"{number:04}" for number in documents}
    runs = [np.array(documents, np.int32), np.array(documents[::-1], np.int32)]
    state = strategy({"name": "hedge"}).begin(topic_runs("7", runs, docnos), SEED)
    state.learn(Verdict(document, is_relevant=document < 1500) for document in documents if document != 77)
    assert state.choose()[0].document == 77
    assert state.choose()[0].reason["trust"] == pytest.approx(1)


@each_strategy
def test_a_document_that_cannot_be_judged_is_used_up_and_tells_nothing(said: dict[str, str]) -> None:
    state, other = (strategy(said).begin(of_letters(["abcd", "xbzd"]), SEED) for _ in range(2))
    first = chosen(state)
    state.learn([Verdict(ord(first), None)])
    assert chosen(state) == chosen(other, out=first)
    assert first not in chosen(state, 9)


@each_strategy
def test_documents_that_are_out_are_passed_over_until_their_judgement_comes(said: dict[str, str]) -> None:
    state = strategy(said).begin(of_letters(FIXTURE), SEED)
    three = chosen(state, 3)
    assert chosen(state, 2) + chosen(state, 1, out=three[:2]) == three
    assert not set(three) & set(chosen(state, 99, out=three))
    assert chosen(state, 3) == three


@each_strategy
def test_a_judgement_on_a_document_that_no_run_has_changes_nothing(said: dict[str, str]) -> None:
    state = strategy(said).begin(of_letters(FIXTURE), SEED)
    before = state.choose(99)
    judged(state, "z", relevant="z")
    assert state.choose(99) == before


@each_strategy
def test_the_first_judgement_of_a_document_counts(said: dict[str, str]) -> None:
    state, other = (strategy(said).begin(of_letters(FIXTURE), SEED) for _ in range(2))
    judged(state, "bab", relevant="b")
    judged(state, "b")
    judged(other, "ba", relevant="b")
    assert state.choose(99) == other.choose(99)


@each_strategy
@pytest.mark.parametrize("runs", [[], [""], ["", ""]])
def test_runs_without_documents_leave_nothing_to_choose(said: dict[str, str], runs: list[str]) -> None:
    assert strategy(said).begin(of_letters(runs), SEED).choose(5, [1]) == []


@each_strategy
@few_examples
@given(runs=RUNS, relevant=VERDICTS, ties=st.sampled_from(["rrf", "first-run"]))
def test_every_document_is_chosen_once(
    said: dict[str, str], runs: list[list[int]], relevant: list[bool | None], ties: str
) -> None:
    order = in_full(strategy(said, ties=ties).begin(numbered(runs), SEED), relevant)
    assert sorted(order) == sorted({name for run in runs for name in run})


@each_strategy
@few_examples
@given(runs=RUNS, relevant=VERDICTS, numbers=st.permutations(range(15)), shuffle=st.randoms(use_true_random=False))
def test_neither_numbers_nor_the_order_of_upload_show_in_the_choices(
    said: dict[str, str], runs: list[list[int]], relevant: list[bool | None], numbers: list[int], shuffle: Random
) -> None:
    shuffled = shuffle.sample(runs, len(runs))
    relevant_by_number = [relevant[numbers.index(number)] for number in range(15)]
    one = in_full(strategy(said).begin(numbered(runs), SEED), relevant)
    other = in_full(strategy(said).begin(numbered(shuffled, numbers), SEED), relevant_by_number)
    assert [numbers.index(number) for number in other] == one


@each_strategy
@few_examples
@given(runs=RUNS, relevant=VERDICTS, shuffle=st.randoms(use_true_random=False), count=st.integers(0, 15))
def test_the_same_judgements_give_the_same_choices_whatever_was_asked_in_between(
    said: dict[str, str], runs: list[list[int]], relevant: list[bool | None], shuffle: Random, count: int
) -> None:
    topic = numbered(runs)
    asked = strategy(said).begin(topic, SEED)
    verdicts = []
    for document in shuffle.sample(range(15), count):
        out = shuffle.sample(range(15), 4)
        run = next((choice.run for choice in asked.choose(3, out) if choice.document == document), None)
        verdicts.append(Verdict(document, relevant[document], run))
        asked.learn(verdicts[-1:])
    replayed = strategy(said).begin(topic, SEED)
    replayed.learn(verdicts)
    out = shuffle.sample(range(15), 4)
    choices = replayed.choose(15, out)
    assert choices == asked.choose(15, out)
    assert not {choice.document for choice in choices} & {*out, *(verdict.document for verdict in verdicts)}


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"name": "mtf"}, "Rank 2 of bm25. Misses since its last hit: 1; no other run has fewer."),
        ({"name": "maxmean"}, "Rank 2 of bm25, whose mean of 0.333 (alpha 1, beta 2) no other run exceeds."),
        # One run: c = 2, and ln(2/2) / 2 = 0 speaks for its second document.
        (
            {"name": "hedge"},
            (
                "No other document has more than its weight of 0.000; most of it is from rank 2 of bm25, trusted with "
                "1.000."
            ),
        ),
        # The second rank of the one run, by RRF with its 60.
        (
            {"name": "cal"},
            (
                "No other document has more than its 0.0161 by reciprocal rank fusion; its best rank is 2, of bm25. No "
                "classifier had ranked it."
            ),
        ),
    ],
)
def test_a_choice_says_why(said: dict[str, str], sentence: str) -> None:
    state = strategy(said).begin(of_letters(["ab"]), SEED)
    judged(state, "a")
    assert str(explain(state.choose()[0].reason, "bm25")) == sentence


@pytest.mark.parametrize("name", NAMES)
def test_adaptive_strategies_start_with_the_top_ten_of_every_run(name: str) -> None:
    runs = of_letters(["abcdefghijkl", "mnopqrstuvwx"])
    ties = {"ties": "rrf"} if "ties" in STRATEGIES[name].takes else {}
    requires = dict.fromkeys(STRATEGIES[name].requires, "llm")
    start = parse_strategy(name, {"budget": 5, **ties, **requires}).start(runs, SEED)
    assert "".join(map(chr, start)) == "ambncodpeqfrgshtiujv"
    assert strategy({"name": name, **requires}).start(runs, SEED).size == 0


@each_strategy
@few_examples
@given(runs=RUNS, relevant=VERDICTS, start=st.integers(0, 3), most=st.integers(0, 15))
def test_a_simulation_judges_what_was_judged_as_far_as_the_budget_goes(
    said: dict[str, str], runs: list[list[int]], relevant: list[bool | None], start: int, most: int
) -> None:
    known = {document: verdict for document, verdict in enumerate(relevant) if verdict is not None}
    topic, plan = numbered(runs), strategy(said, start_depth=start)
    whole, cut = simulate(plan, topic, known), simulate(plan, topic, known, most=most)
    assert sorted(whole.tolist()) == sorted({name for run in runs for name in run} & known.keys())
    assert cut.tolist() == whole[:most].tolist()
    first = {document for run in runs for document in run[:start]} & known.keys()
    assert set(whole[: len(first)].tolist()) == first


def test_maxmean_ns_draws_ties_at_random_and_by_the_seed_alone() -> None:
    # Six runs without a document in common and nothing judged: all means are equal at every choice.
    runs = of_letters(["abcd", "efgh", "ijkl", "mnop", "qrst", "uvwx"])
    usual = parse_strategy("maxmean-ns", {"budget": 5})
    assert usual.parameters["ties"] == "random"
    firsts = [chosen(usual.begin(runs, seed)) for seed in range(600)]
    assert {first: 60 <= firsts.count(first) <= 140 for first in set(firsts)} == dict.fromkeys("aeimqu", True)
    # Drawn again for each document: a run that lost a draw does not lose the next ones, too.
    assert len({chosen(usual.begin(runs, seed), 3) for seed in range(600)}) > 100
    assert [chosen(usual.begin(runs, seed), 24) for seed in range(9)] == [
        chosen(usual.begin(runs, seed), 24) for seed in range(9)
    ]


def test_after_a_miss_of_all_runs_random_ties_turn_to_each_of_them() -> None:
    # By RRF, or the first run, the same few runs would be asked again and again while nothing is found.
    runs = of_letters(["abcdefgh", "ijklmnop", "qrstuvwx"])
    state = parse_strategy("maxmean-ns", {"budget": 24}).begin(runs, SEED)
    asked = []
    for _ in range(12):
        [choice] = state.choose()
        asked.append(choice.run)
        state.learn([Verdict(choice.document, is_relevant=False)])
    assert set(asked) == {0, 1, 2}


def test_hedge_does_not_let_the_last_bits_of_a_weight_decide() -> None:
    # With one decimal in place of nine, so that few documents are enough to bring weights that near.
    first, second = "abcdefghijklmnopqrstuvwxy", "XYZ"
    runs = of_letters([first, second, "WV"])
    exact, rounded = Hedge(runs, decimals=None), Hedge(runs, decimals=1)
    for state in (exact, rounded):
        judged(state, first, relevant=first)
        judged(state, "XW")
    by_weight = [choice.reason["weight"] for choice in exact.choose(3)]
    assert by_weight == sorted(by_weight, reverse=True)
    assert len(set(by_weight)) == 3
    assert {choice.reason["weight"] for choice in rounded.choose(3)} == {round(by_weight[0], 1)}
    # Equal, they stand in the order of RRF: of rank 2 and, by docno, V before Y, then Z.
    assert chosen(rounded, 3) == "VYZ"
