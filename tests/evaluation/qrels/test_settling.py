"""What judges say of pool items, settled by a collection's rules."""

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opinions import Opinion, disputed, settle

from annotator.errors import InvalidValueError
from annotator.evaluation.qrels.consensus import NAMED_POLICIES
from annotator.evaluation.qrels.settling import Rules, rules_of, settle_by_name, settle_items


class Judged(NamedTuple):
    """What a judge says, by item and by name."""

    pool_item_id: int
    grade: int
    judge: str = "jo"
    place: int = 1
    by_owner: bool = False
    adjudicates: bool = False
    is_machine: bool = False

    @property
    def topic(self) -> str:
        return str(self.pool_item_id % 2)

    @property
    def docno(self) -> str:
        return f"d{self.pool_item_id}"

    @property
    def first(self) -> int:
        return self.place

    @property
    def latest(self) -> int:
        return self.place


# Two judges agree on item 1 and differ on 2; an adjudicator has decided 3; 4 has one judgement; a machine differs on 5.
JUDGEMENTS = [
    Judged(1, 2, "jo", 1, by_owner=True),
    Judged(1, 2, "kim", 2),
    Judged(2, 0, "jo", 1, by_owner=True),
    Judged(2, 2, "kim", 2),
    Judged(3, 0, "jo", 1, by_owner=True),
    Judged(3, 2, "kim", 2),
    Judged(3, 2, "ada", 3, adjudicates=True),
    Judged(4, 1, "kim", 1),
    Judged(5, 0, "jo", 1, by_owner=True),
    Judged(5, 1, "gpt", 2, is_machine=True),
]


@pytest.mark.parametrize(
    ("policy", "grades", "uncounted"),
    [
        ("majority", {1: 2, 2: 0, 3: 2, 4: 1, 5: 0}, set()),
        ("lowest", {1: 2, 2: 0, 3: 0, 4: 1, 5: 0}, set()),
        ("highest", {1: 2, 2: 2, 3: 2, 4: 1, 5: 1}, set()),
        ("owner", {1: 2, 2: 0, 3: 0, 5: 0}, {4}),
        ("adjudicated-else-owner", {1: 2, 2: 0, 3: 2, 5: 0}, {4}),
        ("owner-else-majority", {1: 2, 2: 0, 3: 0, 4: 1, 5: 0}, set()),
        ("adjudicated-else-owner-else-majority", {1: 2, 2: 0, 3: 2, 4: 1, 5: 0}, set()),
        ("adjudicated-else-lowest", {1: 2, 2: 0, 3: 2, 4: 1, 5: 0}, set()),
        ("judge:kim", {1: 2, 2: 2, 3: 2, 4: 1}, {5}),
        ("judge:nobody", {}, {1, 2, 3, 4, 5}),
    ],
)
def test_items_are_settled_by_the_policy(policy: str, grades: dict[int, int], uncounted: set[int]) -> None:
    settled = settle_items(JUDGEMENTS, Rules(policy, 1))
    assert (dict(settled.grades), set(settled.uncounted)) == (grades, uncounted)


def test_what_people_dispute_is_counted_and_left_out_if_so_ruled() -> None:
    settled = settle_items(JUDGEMENTS, Rules("majority", 1))
    assert (set(settled.disputed), set(settled.left_out), set(settled.decided)) == ({2}, set(), {3})
    without = settle_items(JUDGEMENTS, Rules("majority", 1, leaves_out_disputed=True))
    assert (dict(without.grades), set(without.left_out)) == ({1: 2, 3: 2, 4: 1, 5: 0}, {2})


def test_nothing_said_is_nothing_settled_and_an_unknown_policy_is_refused_all_the_same() -> None:
    assert settle_items([], Rules("majority", 1)).grades == {}
    with pytest.raises(InvalidValueError, match="“vote”"):
        settle_items([], Rules("vote", 1))


class Settings(NamedTuple):
    """What a collection says of how its grades are settled."""

    consensus_policy: str = "majority"
    relevant_from: int = 2
    leaves_out_disputed: bool = True
    counts_machines: bool = False


BY_MAJORITY = Rules("majority", 2, leaves_out_disputed=True, counts_machines=False)
# One judge is in no dispute, and may be a machine.
BY_JO = Rules("judge:jo", 2, leaves_out_disputed=False, counts_machines=True)


@pytest.mark.parametrize(
    ("settings", "policy", "rules"),
    [
        (Settings(), None, BY_MAJORITY),
        (Settings(leaves_out_disputed=False), None, Rules("majority", 2)),
        (Settings(counts_machines=True), "lowest", Rules("lowest", 2, leaves_out_disputed=True, counts_machines=True)),
        (Settings("judge:jo"), None, BY_JO),
        (Settings(), "judge:jo", BY_JO),
        (Settings("judge:jo"), "majority", BY_MAJORITY),
    ],
)
def test_a_collection_settles_by_its_settings(settings: Settings, policy: str | None, rules: Rules) -> None:
    assert rules_of(settings, policy) == rules


SOME_JUDGEMENTS = st.lists(
    st.builds(
        Judged,
        st.integers(0, 3),
        st.integers(0, 2),
        st.sampled_from(["jo", "kim", "lou", "ada"]),
        by_owner=st.booleans(),
        adjudicates=st.booleans(),
        is_machine=st.booleans(),
    ),
    unique_by=lambda judgement: (judgement.pool_item_id, judgement.judge),
).map(lambda judgements: [judgement._replace(place=place) for place, judgement in enumerate(judgements, start=1)])


RULES = st.builds(Rules, st.sampled_from([*NAMED_POLICIES, "judge:kim"]), st.just(1), st.booleans())


@given(RULES, SOME_JUDGEMENTS)
def test_the_short_way_by_names_and_the_policy_alone_come_to_the_same(rules: Rules, judgements: list[Judged]) -> None:
    # Places among the judgements of each item, as they are read.
    placed = []
    for judgement in judgements:
        of_item = [
            other
            for other in judgements
            if other.pool_item_id == judgement.pool_item_id and other.place <= judgement.place
        ]
        placed.append(judgement._replace(place=len(of_item)))
    settled = settle_items(placed, rules)
    opinions = [Opinion(*judgement[:6]) for judgement in placed]
    people = [Opinion(*judgement[:6]) for judgement in placed if not judgement.is_machine]
    left_out = disputed(people) if rules.leaves_out_disputed else set()
    by_policy = settle(rules.policy, opinions)
    assert settled.grades == {item: grade for item, grade in by_policy.items() if item not in left_out}
    by_name = settle_by_name(judgements, rules)
    assert by_name == {(str(item % 2), f"d{item}"): grade for item, grade in settled.grades.items()}
