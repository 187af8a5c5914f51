"""Dealing topics out: by hand-made cases, and by what holds for any."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.evaluation.pooling.balancing import TopicWork, balanced_owners

JUDGES = ("jo", "kim", "lee")


@st.composite
def some_topics(draw: st.DrawFn, most: int = 12) -> list[TopicWork]:
    sizes = draw(st.lists(st.integers(0, 40), max_size=most))
    owners = [draw(st.sampled_from([None, "gone", *JUDGES])) for _ in sizes]
    return [TopicWork(str(index), size, owner) for index, (size, owner) in enumerate(zip(sizes, owners, strict=True))]


some_judges = st.sets(st.sampled_from(JUDGES), min_size=1)


def after(topics: Sequence[TopicWork], owners: Mapping[str, str]) -> list[TopicWork]:
    return [TopicWork(topic.number, topic.remaining, owners.get(topic.number, topic.owner)) for topic in topics]


def work_of(topics: Sequence[TopicWork], judges: set[str]) -> dict[str, int]:
    loads = Counter(dict.fromkeys(judges, 0))
    for topic in topics:
        if topic.owner in judges:
            loads[topic.owner] += topic.remaining
    return dict(loads)


@pytest.mark.parametrize(
    ("topics", "reassign", "expected"),
    [
        # 7 to jo; 5 to kim; 4 to kim (5 < 7); 3 to jo (7 < 9): 10 and 9.
        ([("1", 3, None), ("2", 4, None), ("3", 5, None), ("4", 7, None)], False, "4jo 3kim 2kim 1jo"),
        # Equal sizes go by the number, as people order numbers: 2 before 10.
        ([("10", 5, None), ("2", 5, None)], False, "2jo 10kim"),
        # What jo has already counts, so kim takes both.
        ([("1", 9, "jo"), ("2", 4, None), ("3", 4, None)], False, "2kim 3kim"),
        # Who is no judge any more owns nothing.
        ([("1", 9, "gone")], False, "1jo"),
        # Nothing remains: nothing is dealt.
        ([("1", 0, None), ("2", 0, "jo")], True, ""),
        # With `reassign`, a tie leaves the topic with its owner.
        ([("1", 6, "kim"), ("2", 6, "jo"), ("3", 6, "kim")], True, "1kim 2jo 3kim"),
        # With as much work, the one with fewer topics: 2 is done, but jo holds it.
        ([("1", 4, None), ("2", 0, "jo")], False, "1kim"),
    ],
)
def test_topics_are_dealt_largest_first_to_whoever_has_least(
    *, topics: list[tuple[str, int, str | None]], reassign: bool, expected: str
) -> None:
    dealt = balanced_owners([TopicWork(*topic) for topic in topics], ["kim", "jo"], reassign=reassign)
    assert " ".join(f"{number}{judge}" for number, judge in dealt.items()) == expected


def test_without_judges_nothing_is_dealt() -> None:
    assert balanced_owners([TopicWork("1", 3)], []) == {}


@given(topics=some_topics(), judges=some_judges, reassign=st.booleans())
def test_each_topic_that_is_to_be_dealt_goes_to_one_of_the_judges(
    *, topics: list[TopicWork], judges: set[str], reassign: bool
) -> None:
    dealt = balanced_owners(topics, judges, reassign=reassign)
    wanted = {topic.number for topic in topics if topic.remaining and (reassign or topic.owner not in judges)}
    assert set(dealt) == wanted
    assert set(dealt.values()) <= judges


@given(topics=some_topics(), judges=some_judges, reassign=st.booleans(), random=st.randoms())
def test_the_order_in_which_topics_and_judges_are_named_changes_nothing(
    *, topics: list[TopicWork], judges: set[str], reassign: bool, random: Random
) -> None:
    shuffled, names = list(topics), sorted(judges, reverse=True)
    random.shuffle(shuffled)
    assert balanced_owners(shuffled, names, reassign=reassign) == balanced_owners(topics, judges, reassign=reassign)


@given(topics=some_topics(), judges=some_judges, reassign=st.booleans())
def test_dealing_a_second_time_moves_nothing(*, topics: list[TopicWork], judges: set[str], reassign: bool) -> None:
    once = after(topics, balanced_owners(topics, judges, reassign=reassign))
    assert after(once, balanced_owners(once, judges, reassign=reassign)) == once


@given(topics=some_topics(), judges=some_judges, reassign=st.booleans())
def test_whoever_got_a_topic_had_least_before_the_last_of_them(
    *, topics: list[TopicWork], judges: set[str], reassign: bool
) -> None:
    dealt = balanced_owners(topics, judges, reassign=reassign)
    work = work_of(after(topics, dealt), judges)
    sizes = {topic.number: topic.remaining for topic in topics}
    for judge in judges & set(dealt.values()):
        smallest = min(sizes[number] for number, owner in dealt.items() if owner == judge)
        assert work[judge] - smallest <= min(work.values())


@given(some_topics(most=6), some_judges)
def test_dealt_anew_nobody_has_more_than_grahams_bound(topics: list[TopicWork], judges: set[str]) -> None:
    sizes = [topic.remaining for topic in topics]
    best = min(
        max(sum(size for size, owner in zip(sizes, owners, strict=True) if owner == judge) for judge in judges)
        for owners in product(sorted(judges), repeat=len(sizes))
    )
    # Longest first on m machines: at most 4/3 - 1/(3m) of the best.
    dealt = after(topics, balanced_owners(topics, judges, reassign=True))
    busiest = max(work_of([topic for topic in dealt if topic.remaining], judges).values())
    assert 3 * len(judges) * busiest <= (4 * len(judges) - 1) * best
