"""Every parser fed inputs changed at random; `benchmarks/fuzzing.py` feeds them a million."""

import os
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.fuzz_mutating import mutated
from benchmarks.fuzz_targets import TARGETS

INPUTS = int(os.environ.get("ANNOTATOR_FUZZ", "300"))
MOST_SECONDS = 1.0


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_but_our_refusals_comes_out_of_a_parser(name: str) -> None:
    target = TARGETS[name]
    chance = random.Random(f"0 {name}")  # noqa: S311 - the same inputs every time
    for seed in target.seeds:
        target.read(seed)
    longest = 0.0
    for _ in range(INPUTS):
        data = mutated(chance, target.seeds)
        began = time.process_time()
        target.read(data)
        longest = max(longest, time.process_time() - began)
    assert longest < MOST_SECONDS


@pytest.mark.parametrize("name", TARGETS)
@given(data=st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_nothing_but_our_refusals_comes_out_of_any_bytes(name: str, data: bytes) -> None:
    TARGETS[name].read(data)


def test_the_same_seed_makes_the_same_inputs() -> None:
    seeds = TARGETS["run"].seeds
    one, other = (random.Random("1") for _ in range(2))  # noqa: S311 - likewise
    assert [mutated(one, seeds) for _ in range(50)] == [mutated(other, seeds) for _ in range(50)]
