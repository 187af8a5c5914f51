"""A machine beside a person: how far its labels are those the person gave."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotator.errors import Sentence
from annotator.evaluation.agreement import (
    Kappa,
    Weighting,
    confusion_matrix,
    kappa_of_confusion,
    mean_difference,
    same_grade,
)
from annotator.evaluation.figures import Figure
from annotator.evaluation.judge_effect import Grades
from annotator.evaluation.regraded_runs import NOT_GRADED


@dataclass(frozen=True)
class MachineBeside:
    """A machine and a person, or the settled grades of all people, on the documents that both graded."""

    kappa: Kappa
    quadratic: Kappa
    same: Figure
    difference: Figure  # mean of the machine's grade less the other's: above 0 the machine is the more generous

    @property
    def reasons(self) -> dict[str, Sentence | None]:
        """Of each value why there is none, None of one that there is; `more` is the difference."""
        reasons = {"same": self.same.reason, "more": self.difference.reason}
        for name, interval, kappa in (("kappa", "", self.kappa), ("quadratic", "quadratic_", self.quadratic)):
            reasons[name] = kappa.reason
            of_interval = None if kappa.interval else kappa.interval_reason or kappa.reason
            reasons |= dict.fromkeys((f"{interval}low", f"{interval}high"), of_interval)
        return {name: None if reason is None else reason.sentence for name, reason in reasons.items()}

    @property
    def confusion(self) -> list[list[int]]:
        """How often the machine's grade (row) met the other's (column), in the order of the scale."""
        confusion: list[list[int]] = self.kappa.confusion.tolist()
        return confusion


def machine_beside(machine: Grades, other: Grades, scale: Sequence[int]) -> MachineBeside:
    """Compare two sets of grades, entry by entry the same document, `NOT_GRADED` where there is none."""
    common = (machine > NOT_GRADED) & (other > NOT_GRADED)
    confusion = confusion_matrix(machine[common], other[common], scale)
    as_one = confusion[np.newaxis]
    return MachineBeside(
        kappa_of_confusion(confusion),
        kappa_of_confusion(confusion, Weighting.QUADRATIC.of(len(scale))),
        same_grade(as_one)[0],
        mean_difference(as_one, scale)[0],
    )
