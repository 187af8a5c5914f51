"""Ranked lists interleaved: what can come out, how often, and what must hold of whatever comes out."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.clicks.evaluation.interleaving.interleaving import (
    NO_TEAM,
    InterleavedLists,
    Method,
    MixedList,
    balanced,
    draw_orders,
    interleave,
    team_draft,
)
from annotator.errors import InvalidValueError

rankings = st.lists(
    st.permutations("abcdefg").flatmap(lambda all_: st.integers(0, 7).map(lambda n: all_[:n])), min_size=2
)
seeds = st.integers(0, 2**32)
# The two rankings that Radlinski, Kurup and Joachims (CIKM 2008) interleave in their example.
FIRST, SECOND = "abcdgh", "beafgh"


def drafted(ranked: list[list[str]] | list[str], depth: int, seed: int) -> MixedList:
    return team_draft(ranked, depth, draw_orders(100, len(ranked), np.random.default_rng(seed)))


def text(mixed: MixedList) -> str:
    return "".join(mixed.docnos)


def test_two_lists_can_be_drafted_in_four_ways_each_as_likely() -> None:
    # The fixture of mpkato/interleaving: whoever picks first, the third place goes to either by a second toss.
    chance = np.random.default_rng(1)
    found = Counter(team_draft(["12", "34"], 3, draw_orders(3, 2, chance)).docnos for _ in range(4000))
    assert found.keys() == {("1", "3", "2"), ("1", "3", "4"), ("3", "1", "2"), ("3", "1", "4")}
    # Each is binomial with mean 1000 and deviation 27.4.
    assert all(abs(count - 1000) < 110 for count in found.values())


def test_a_pick_is_of_the_team_that_made_it() -> None:
    for seed in range(20):
        mixed = drafted(["12", "34"], 4, seed)
        assert dict(zip(mixed.docnos, mixed.teams, strict=True)) == {"1": 0, "2": 0, "3": 1, "4": 1}


def test_a_document_of_both_is_of_the_team_that_was_faster() -> None:
    # Both want a; the other takes its next best.
    found = {(text(mixed), mixed.teams) for seed in range(50) for mixed in [drafted(["ab", "ac"], 2, seed)]}
    assert found == {("ac", (0, 1)), ("ab", (1, 0))}


def test_when_a_list_has_no_more_to_pick_what_follows_is_nobodys() -> None:
    # The first has a alone. In the second round it has nothing, so b, or what is left, counts for nobody.
    found = {(text(mixed), mixed.teams) for seed in range(50) for mixed in [drafted(["a", "bcd"], 4, seed)]}
    assert found == {("abcd", (0, 1, NO_TEAM, NO_TEAM)), ("bacd", (1, 0, NO_TEAM, NO_TEAM))}
    assert set(drafted(["a", "a"], 10, 1).teams) == {NO_TEAM}


@given(rankings, seeds)
def test_of_a_whole_list_every_team_has_as_many_documents(ranked: list[list[str]], seed: int) -> None:
    mixed = drafted(ranked, 100, seed)
    assert sorted(mixed.docnos) == sorted(set().union(*ranked))
    assert len({mixed.teams.count(team) for team in range(len(ranked))}) == 1
    # Nobody's documents come last.
    assert sorted(mixed.teams, key=lambda team: team == NO_TEAM) == list(mixed.teams)


@given(rankings, seeds, st.integers(1, 10))
def test_a_shorter_list_is_the_beginning_of_the_longer_one(ranked: list[list[str]], seed: int, depth: int) -> None:
    whole, short = drafted(ranked, 100, seed), drafted(ranked, depth, seed)
    assert short == MixedList(whole.docnos[:depth], whole.teams[:depth])


@given(rankings, seeds)
def test_in_every_round_each_team_picks_its_best_that_is_left(ranked: list[list[str]], seed: int) -> None:
    mixed = drafted(ranked, 100, seed)
    for place, (docno, team) in enumerate(zip(mixed.docnos, mixed.teams, strict=True)):
        if team != NO_TEAM:
            assert docno == next(one for one in ranked[team] if one not in mixed.docnos[:place])
            of_round = mixed.teams[place - place % len(ranked) :][: len(ranked)]
            assert sorted(of_round) == list(range(len(ranked)))


def test_of_three_teams_any_order_comes_as_often() -> None:
    chance = np.random.default_rng(2)
    found = Counter(team_draft(["a", "b", "c"], 3, draw_orders(1, 3, chance)).teams for _ in range(6000))
    assert len(found) == 6
    assert all(abs(count - 1000) < 120 for count in found.values())


def test_there_are_no_more_rounds_than_orders() -> None:
    assert team_draft(["ab", "cd"], 4, np.array([[1, 0]])) == MixedList(("c", "a"), (1, 0))


def test_balanced_lists_are_those_of_the_paper() -> None:
    # Radlinski, Kurup and Joachims (CIKM 2008), their example of balanced interleaving.
    assert text(balanced(FIRST, SECOND, 8, first_leads=True)) == "abecdfgh"
    assert text(balanced(FIRST, SECOND, 8, first_leads=False)) == "baecfdgh"
    assert text(balanced(FIRST, SECOND, 3, first_leads=True)) == "abe"


@given(
    first=st.permutations("abcdefg"),
    second=st.permutations("abcdefg"),
    first_leads=st.booleans(),
    depth=st.integers(1, 7),
)
def test_a_balanced_list_has_of_either_run_a_top_and_these_differ_by_one_at_most(
    *, first: list[str], second: list[str], first_leads: bool, depth: int
) -> None:
    mixed = balanced(first, second, depth, first_leads=first_leads)
    assert len(mixed.docnos) == depth
    tops = {
        (n, m)
        for n in range(8)
        for m in (n - 1, n, n + 1)
        if 0 <= m <= 7 and set(first[:n]) | set(second[:m]) == set(mixed.docnos)
    }
    assert tops


def of_two(
    method: Method = Method.TEAM_DRAFT, *, topics: str = "12", lists: int = 3, seed: int = 7
) -> InterleavedLists:
    first = {topic: [f"{topic}a", f"{topic}b", "c"] for topic in topics}
    second = {topic: ["c", f"{topic}d"] for topic in topics}
    return interleave({"A": first, "B": second}, method, depth=4, lists=lists, seed=seed)


def test_the_same_seed_gives_the_same_lists_and_another_seed_others() -> None:
    assert of_two(lists=20) == of_two(lists=20)
    assert of_two(lists=20) != of_two(lists=20, seed=8)


def test_a_topics_lists_do_not_change_when_more_lists_or_topics_are_asked_for() -> None:
    few, many = of_two(), of_two(topics="123", lists=9)
    assert {key: many.lists[key] for key in few.lists} == few.lists


def test_in_every_two_lists_of_a_topic_each_run_has_each_turn_once() -> None:
    placed = list(of_two(topics="1", lists=20).lists.values())
    firsts = [one[0].team for one in placed]
    assert all(sorted(pair) == [0, 1] for pair in zip(firsts[::2], firsts[1::2], strict=True))
    # And who begins the first of two is tossed for.
    assert set(firsts[::2]) == {0, 1}


@pytest.mark.parametrize("runs", [2, 3, 4])
def test_of_runs_that_are_the_same_every_place_is_picked_as_often_by_each(runs: int) -> None:
    same = {str(place): {"1": "abcdefgh"} for place in range(runs)}
    made = interleave(same, Method.TEAM_DRAFT, depth=7, lists=runs * 3, seed=5)
    for position in range(7):
        picks = Counter(placed[position].team for placed in made.lists.values())
        assert len(set(picks.values())) == 1


def test_in_every_two_balanced_lists_each_run_leads_once() -> None:
    made = interleave({"A": {"1": FIRST}, "B": {"1": SECOND}}, Method.BALANCED, depth=8, lists=20, seed=1)
    firsts = [placed[0].docno for placed in made.lists.values()]
    assert all(sorted(pair) == ["a", "b"] for pair in zip(firsts[::2], firsts[1::2], strict=True))
    assert set(firsts[::2]) == {"a", "b"}


def test_only_topics_of_all_runs_have_lists_in_the_order_people_expect() -> None:
    runs = {"A": {"10": ["a"], "2": ["a"], "3": ["a"]}, "B": {"2": ["b"], "10": ["b"]}}
    made = interleave(runs, Method.TEAM_DRAFT, depth=2, lists=1, seed=1)
    assert list(made.lists) == [("2", 1), ("10", 1)]


def test_documents_have_the_ranks_of_both_runs_and_balanced_ones_no_team() -> None:
    [placed] = of_two(topics="1", lists=1).lists.values()
    assert {one.docno: one.ranks for one in placed} == {"1a": (1, 0), "1b": (2, 0), "c": (3, 1), "1d": (0, 2)}
    [placed] = of_two(Method.BALANCED, topics="1", lists=1).lists.values()
    assert {one.team for one in placed} == {NO_TEAM}
    # The second run has two documents, so the third of the first counts for neither.
    assert {one.docno: one.ranks for one in placed} == {"1a": (1, 0), "1b": (2, 0), "c": (0, 1), "1d": (0, 2)}


def test_more_lines_than_memory_has_room_for_are_refused() -> None:
    runs = {"A": {"1": ["a"]}, "B": {"1": ["b"]}}
    with pytest.raises(InvalidValueError, match="would have 10000000 lines, more than 3000000"):
        interleave(runs, Method.TEAM_DRAFT, depth=1000, lists=10_000, seed=1)


def test_runs_without_a_topic_in_common_and_three_balanced_runs_are_refused() -> None:
    runs = {"A": {"1": ["a"]}, "B": {"2": ["a"]}}
    with pytest.raises(InvalidValueError, match="No topic is in all of these runs"):
        interleave(runs, Method.TEAM_DRAFT, depth=2, lists=1, seed=1)
    with pytest.raises(InvalidValueError, match="takes two runs, not 3"):
        interleave({**runs, "C": {}}, Method.BALANCED, depth=2, lists=1, seed=1)
