"""Agreement of a machine judge with a person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.errors import Sentence
from annotator.evaluation.agreement.judge_effect import Grades
from annotator.evaluation.agreement.kappa import Weighting, kappa_of_confusion, mean_difference, same_grade
from annotator.evaluation.agreement.labels import confusions_by_place
from annotator.evaluation.agreement.results import Kappa
from annotator.evaluation.agreement.topic_intervals import TopicInterval, kappa_interval
from annotator.evaluation.leaderboard.rescoring import NOT_GRADED
from annotator.evaluation.metrics.figures import Figure

TopicDocument = tuple[int, int]


@dataclass(frozen=True)
class MachineBeside:
    """The agreement of a machine with a person, or with the consensus of people, on the documents graded by both."""

    kappa: Kappa
    quadratic: Kappa
    by_topics: TopicInterval  # interval of kappa
    quadratic_by_topics: TopicInterval
    same: Figure
    difference: Figure  # mean of the machine's grade minus the other's: above 0 the machine is the more lenient

    @property
    def reasons(self) -> dict[str, Sentence | None]:
        """The reason why each value is undefined, None for defined values; `more` is the difference."""
        reasons = {"same": self.same.reason, "more": self.difference.reason}
        for name, interval, kappa, by_topics in (
            ("kappa", "", self.kappa, self.by_topics),
            ("quadratic", "quadratic_", self.quadratic, self.quadratic_by_topics),
        ):
            reasons[name] = kappa.reason
            reasons |= dict.fromkeys((f"{interval}low", f"{interval}high"), by_topics.reason)
            analytic = f"{interval}analytic_low", f"{interval}analytic_high"
            reasons |= dict.fromkeys(analytic, None if kappa.interval else kappa.interval_reason or kappa.reason)
        return {name: None if reason is None else reason.sentence for name, reason in reasons.items()}

    @property
    def confusion(self) -> list[list[int]]:
        """The machine's grades (row) against the other's (column), in the order of the scale."""
        confusion: list[list[int]] = self.kappa.confusion.tolist()
        return confusion


def machine_beside(machine: Grades, other: Grades, topic: NDArray[np.intp], scale: Sequence[int]) -> MachineBeside:
    """Compare two parallel arrays of grades, `NOT_GRADED` without a grade.

    `topic` is the topic number, from 0, of each entry: the intervals take topics as independent.
    """
    common = (machine > NOT_GRADED) & (other > NOT_GRADED)
    topics = int(topic.max(initial=-1)) + 1
    by_topic = confusions_by_place(machine[common], other[common], topic[common], topics, scale)
    confusion = by_topic.sum(axis=0)
    as_one = confusion[np.newaxis]
    quadratic = Weighting.QUADRATIC.of(len(scale))
    return MachineBeside(
        kappa_of_confusion(confusion),
        kappa_of_confusion(confusion, quadratic),
        kappa_interval(by_topic, Weighting.NONE.of(len(scale))),
        kappa_interval(by_topic, quadratic),
        same_grade(as_one)[0],
        mean_difference(as_one, scale)[0],
    )


def graded_beside(
    machine: Mapping[TopicDocument, int], other: Mapping[TopicDocument, int], scale: Sequence[int]
) -> MachineBeside:
    """Compare the grades of a machine with other ones, as {(topic id, document id): grade}, where both have one."""
    common = sorted(machine.keys() & other.keys())
    _, topic = np.unique(np.array([pair[0] for pair in common], np.int64), return_inverse=True)
    first, second = (np.array([grades[pair] for pair in common], np.int16) for grades in (machine, other))
    return machine_beside(first, second, topic, scale)
