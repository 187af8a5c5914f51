"""What a leaderboard would be without some of its topics."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotator.errors import ConflictError
from annotator.evaluation.metrics.measures import Better, Measure
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.rank_correlation import kendall_tau_b


@dataclass(frozen=True)
class RunChange:
    """A run's value over the topics, and its place from 1, with and without those to be dropped; equals share one."""

    run: str
    with_them: float
    without_them: float
    place_with: int
    place_without: int

    @property
    def moves(self) -> bool:
        """Whether it changes places."""
        return self.place_with != self.place_without


@dataclass(frozen=True)
class DroppingEffect:
    """The runs in the order in which they were given, and how far their two rankings agree."""

    measure: str
    dropped: tuple[str, ...]
    topics_left: int
    runs: tuple[RunChange, ...]
    tau: float | None  # Kendall's tau-b; None when all runs are equal, or there is one only


def effect_of_dropping(
    measure: Measure, values: Mapping[str, Mapping[str, float]], topics: Collection[str]
) -> DroppingEffect:
    """Summarise `values` (run → topic number → value) over all their topics, and over those not in `topics`.

    Raises `ConflictError` when no topic would be left.
    """
    scored = sorted({topic for of_run in values.values() for topic in of_run}, key=str.encode)
    left = [topic for topic in scored if topic not in topics]
    if not left:
        raise ConflictError("Without these topics there would be none left to average over.")
    before, after = (_summaries(measure, values, among) for among in (scored, left))
    places = (_places(among, measure.definition.better) for among in (before, after))
    rows = zip(values, before.tolist(), after.tolist(), *places, strict=True)
    return DroppingEffect(
        measure=str(measure),
        dropped=tuple(topic for topic in scored if topic in topics),
        topics_left=len(left),
        runs=tuple(RunChange(*row) for row in rows),
        tau=kendall_tau_b(before.tolist(), after.tolist()),
    )


def _summaries(measure: Measure, values: Mapping[str, Mapping[str, float]], topics: Sequence[str]) -> Values:
    """One value a run, summarised as the leaderboard does: the mean, for counts the sum."""
    return measure.over_topics(np.array([[of_run[topic] for topic in topics] for of_run in values.values()], float))


def _places(values: Values, better: Better) -> list[int]:
    """One more than the number of runs that are better; nobody is when no value is."""
    best_first = {Better.MORE: -1, Better.LESS: 1, Better.NEITHER: 0}[better] * values
    places: list[int] = (1 + np.count_nonzero(best_first[np.newaxis, :] < best_first[:, np.newaxis], axis=1)).tolist()
    return places
