"""Differences between two states of a collection's qrels: by grade, by topic, and by run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.leaderboard.rescoring import values_to_rank
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.significance.rank_correlation import kendall_tau_b, places

# (topic number, docno) → grade.
Grades = Mapping[tuple[str, str], int]


class GradeChangeKind(StrEnum):
    """The kinds of changes of a grade."""

    SAME = "same"
    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True)
class GradeChange:
    """A document whose grade changed; None is no grade."""

    topic: str
    docno: str
    before: int | None
    after: int | None

    @property
    def kind(self) -> GradeChangeKind:
        """The kind of the change."""
        if self.before is None:
            return GradeChangeKind.ADDED
        if self.after is None:
            return GradeChangeKind.REMOVED
        return GradeChangeKind.SAME if self.before == self.after else GradeChangeKind.CHANGED


@dataclass(frozen=True)
class TopicDifference:
    """The numbers of unchanged, changed, added and removed grades of a topic."""

    topic: str
    same: int
    changed: int
    added: int
    removed: int


@dataclass(frozen=True)
class RunDifference:
    """A run's value and rank before and after; ties share the best of their ranks."""

    tag: str
    before: float
    after: float
    rank_before: int
    rank_after: int


def grade_changes(before: Grades, after: Grades) -> list[GradeChange]:
    """Return every grade that differs between the two sides, by topic and then by docno."""
    pairs = sorted(before.keys() | after.keys(), key=lambda pair: (natural_order(pair[0]), pair[1]))
    changes = (GradeChange(*pair, before.get(pair), after.get(pair)) for pair in pairs)
    return [change for change in changes if change.kind != GradeChangeKind.SAME]


def topic_differences(before: Grades, after: Grades) -> list[TopicDifference]:
    """Count the changes of each topic that has grades on either side."""
    counts: dict[str, Counter[GradeChangeKind]] = {}
    for pair in before.keys() | after.keys():
        kind = GradeChange(*pair, before.get(pair), after.get(pair)).kind
        counts.setdefault(pair[0], Counter())[kind] += 1
    return [
        TopicDifference(topic, *(counts[topic][kind] for kind in GradeChangeKind))
        for topic in sorted(counts, key=natural_order)
    ]


def run_differences(
    tags: Sequence[str], before: Sequence[float], after: Sequence[float], measure: Measure
) -> tuple[list[RunDifference], float | None]:
    """Compare the values of runs, best first by `after`, and correlate the two rankings.

    The second is Kendall's tau-b; None where it is undefined.
    """
    first, second = (values_to_rank(measure, np.array(values, np.float64)) for values in (before, after))
    ranks = (places(values).tolist() for values in (first, second))
    runs = [RunDifference(*run) for run in zip(tags, before, after, *ranks, strict=True)]
    tau = kendall_tau_b(first.tolist(), second.tolist())
    return sorted(runs, key=lambda run: (run.rank_after, natural_order(run.tag))), tau
