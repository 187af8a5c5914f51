"""Which runs no other run beats on two counts at once."""

from collections.abc import Sequence

import numpy as np

from annotator.evaluation.metrics.measures import Better


def pareto_front(
    values: Sequence[float | None], costs: Sequence[float | None], *, value_better: Better, cost_better: Better
) -> list[bool]:
    """Whether each run is on the front (Pareto 1896): none is at least as good on both counts and better on one.

    `values` and `costs` have a number a run, None where there is none: such a run is on no front and beats nobody.
    Runs that are alike on both counts stand there together. Where neither end of a count is better, there is no front.
    """
    if Better.NEITHER in {value_better, cost_better}:
        return [False] * len(values)
    value, cost = _the_more_the_better(values, value_better), _the_more_the_better(costs, cost_better)
    # Comparisons with a nan are never true, so a run without a number neither beats nor is beaten.
    at_least = (value[None, :] >= value[:, None]) & (cost[None, :] >= cost[:, None])
    more = (value[None, :] > value[:, None]) | (cost[None, :] > cost[:, None])
    is_beaten = (at_least & more).any(axis=1)
    has_both = ~(np.isnan(value) | np.isnan(cost))
    front: list[bool] = (has_both & ~is_beaten).tolist()
    return front


def _the_more_the_better(numbers: Sequence[float | None], better: Better) -> np.ndarray:
    told = np.array([np.nan if number is None else number for number in numbers], dtype=np.float64)
    return told if better is Better.MORE else -told
