"""The history of a source's scores: intervals computed from the formula of the paired t test."""

from dataclasses import dataclass
from typing import cast

import numpy as np
import pytest

from annotator.evaluation.inspection.scored_runs import ScoredRuns
from annotator.evaluation.inspection.source_history import HistoryScore, history_of
from annotator.evaluation.metrics.measures import Better
from annotator.evaluation.metrics.setting import Values

START = np.array([0.2, 0.3, 0.4, 0.5])
# The 0.975 quantile of Student's t with 3 degrees of freedom, from a printed table.
T = 3.182446


@dataclass(frozen=True)
class Runs:
    """Values of runs in time, in place of scored ones."""

    values: Values
    better: Better = Better.MORE

    @property
    def tags(self) -> list[str]:
        return [f"run{place}" for place in range(len(self.values))]

    def mean(self, run: int) -> float:
        return float(self.values[run].mean())


def history(*values: Values, better: Better = Better.MORE) -> list[HistoryScore]:
    return list(history_of(cast("ScoredRuns", Runs(np.array(values), better))))


def half_width(differences: Values) -> float:
    return float(T * differences.std(ddof=1) / np.sqrt(len(differences)))


def test_a_run_is_within_the_interval_around_the_first_or_alarms() -> None:
    near, far = np.array([0.0, 0.2, 0.1, 0.5]), np.array([0.1, 0.2, 0.3, 0.4])
    first, second, third = history(START, START + near, START - far)
    assert (first.mean, first.reference, first.alarms) == (float(START.mean()), None, False)
    assert (second.reference, second.alarms, second.is_better) == (0, False, True)
    assert second.low == pytest.approx(0.35 - half_width(near), abs=1e-6)
    assert second.high == pytest.approx(0.35 + half_width(near), abs=1e-6)
    # Compared with the first one, too: the second has not left its interval.
    assert (third.reference, third.alarms, third.is_better) == (0, True, False)
    assert third.low == pytest.approx(0.35 - half_width(far), abs=1e-6)


def test_small_steps_add_up_to_one_alarm_and_the_run_that_alarms_is_the_next_mark() -> None:
    step = np.array([0.01, 0.05, 0.0, 0.06])
    found = history(START, START - step / 4, START - 2 * step, START - 2 * step - np.array([0.02, -0.02, 0.01, -0.01]))
    assert [one.reference for one in found] == [None, 0, 0, 0]
    wide = np.array([0.1, 0.2, 0.3, 0.4])
    found = history(START, START + wide, START + wide + np.array([0.01, -0.01, 0.02, -0.02]))
    assert [(one.reference, one.alarms) for one in found] == [(None, False), (0, True), (1, False)]


def test_without_a_test_there_is_no_interval_and_no_alarm() -> None:
    _, same = history(START, START)
    assert (same.low, same.high, same.alarms, same.is_better) == (None, None, False, False)
    _, single = history(START[:1], START[:1] + 0.5)
    assert (single.low, single.alarms) == (None, False)
    assert history_of(cast("ScoredRuns", Runs(np.empty((0, 4))))) == []


def test_a_change_by_the_same_amount_on_all_topics_alarms() -> None:
    whole, broken, same = history(np.ones(5), np.zeros(5), np.zeros(5))
    assert (whole.alarms, broken.low, broken.high, broken.alarms, broken.is_better) == (False, 1.0, 1.0, True, False)
    assert (same.reference, same.alarms) == (1, False)


def test_where_less_is_better_a_lower_mean_is() -> None:
    _, lower = history(START, START - np.array([0.1, 0.2, 0.3, 0.4]), better=Better.LESS)
    assert (lower.alarms, lower.is_better) == (True, True)
