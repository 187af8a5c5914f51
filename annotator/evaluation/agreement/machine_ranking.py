"""What a machine judge does to the ranking of runs: rank correlation at the top, and significant differences.

Kendall's tau over all runs is high where the machine separates many bad runs from good ones; yet it may order the best
runs, which matter, in any way (Otero, Parapar and Barreiro 2025). So tau is also taken over the best runs by people,
and the pairs of runs that differ significantly by the machine are compared with those by people.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from re import IGNORECASE, escape, search

import numpy as np
from numpy.typing import NDArray

from annotator.errors import Sentence
from annotator.evaluation.agreement.judge_effect import Grades
from annotator.evaluation.leaderboard.rescoring import NOT_GRADED, RegradedRuns, Scoring, values_to_rank
from annotator.evaluation.metrics.figures import Figure, SentenceEnum
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.comparisons import paired_tests
from annotator.evaluation.significance.rank_correlation import kendall_tau_b, places

TOPS = (10, 15)  # numbers of the best runs over which tau is taken
TOP_SHARE = 4  # one run in four is in the top
LEAST_NAME = 3  # characters of a model's name that is looked for in what runs declare


class Undefined(SentenceEnum):
    """Why there is no value."""

    FEW_RUNS = Sentence("There are no more runs than that.")
    NO_ORDER = Sentence("There is no order: all of these runs are equal by one of the two.")
    NOT_SIGNIFICANT = Sentence("No pair of these runs differs significantly.")
    NO_TEST = Sentence("There is no test: it takes two runs and two topics.")


@dataclass(frozen=True)
class SignificantPairs:
    """Pairs of runs that differ significantly by a machine and by people: paired t tests, Holm over these runs.

    A pair is confirmed if it differs by both, in the same direction.
    """

    runs: int
    pairs: int
    by_machine: int
    by_people: int
    both: int  # confirmed
    opposite: int  # by both, in opposite directions
    has_tests: bool

    @property
    def unconfirmed(self) -> Figure:
        """The share of the machine's significant pairs that people do not confirm."""
        return self._share(self.by_machine - self.both, self.by_machine)

    @property
    def missed(self) -> Figure:
        """The share of people's significant pairs that the machine misses."""
        return self._share(self.by_people - self.both, self.by_people)

    def _share(self, count: int, of: int) -> Figure:
        if not self.has_tests:
            return Figure(None, Undefined.NO_TEST)
        return Figure(count / of) if of else Figure(None, Undefined.NOT_SIGNIFICANT)


@dataclass(frozen=True)
class MachineRanking:
    """The ranking by a machine beside that by people; `taus` has tau over the best runs by people, {number: tau}."""

    taus: Mapping[int, Figure]
    all_runs: SignificantPairs
    top_runs: SignificantPairs  # the best quarter by people

    @property
    def reasons(self) -> dict[str, Sentence | None]:
        """The reason why each value is undefined, None for defined values."""
        figures = {f"tau_{number}": tau for number, tau in self.taus.items()}
        for name, pairs in (("", self.all_runs), ("_top", self.top_runs)):
            figures |= {f"unconfirmed{name}": pairs.unconfirmed, f"missed{name}": pairs.missed}
        return {name: figure.reason.sentence if figure.reason else None for name, figure in figures.items()}


def effect_on_ranking(runs: RegradedRuns, machine: Grades, people: Grades, scoring: Scoring) -> MachineRanking:
    """Score the runs by a machine's and by people's grades, one value an entry, on the entries that both have."""
    common = (machine > NOT_GRADED) & (people > NOT_GRADED)
    by_machine, by_people = (
        runs.score(np.where(common, grades, np.int16(NOT_GRADED)), scoring).values for grades in (machine, people)
    )
    first, second = (scoring.order(scoring.measure.over_topics(values)) for values in (by_machine, by_people))
    direction = float(values_to_rank(scoring.measure, np.ones(1))[0])
    return machine_ranking(by_machine, by_people, first, second, direction)


def machine_ranking(
    machine: Values, people: Values, machine_order: Values, people_order: Values, direction: float = 1.0
) -> MachineRanking:
    """Compare values of the runs, (runs, topics), and what ranks the runs, one value a run, greatest first.

    `direction` is 1 if more is better, -1 if less is. Runs that tie with the last of the best are among them.
    """
    place = places(people_order)
    is_top = place <= max(1, ceil(place.size / TOP_SHARE))
    return MachineRanking(
        {number: _tau_of_top(machine_order, people_order, place, number) for number in TOPS},
        significant_pairs(machine, people, direction),
        significant_pairs(machine[is_top], people[is_top], direction),
    )


def _tau_of_top(machine: Values, people: Values, place: NDArray[np.intp], number: int) -> Figure:
    if place.size <= number:
        return Figure(None, Undefined.FEW_RUNS)
    top = place <= number
    tau = kendall_tau_b(machine[top].tolist(), people[top].tolist())
    return Figure(None, Undefined.NO_ORDER) if tau is None else Figure(tau)


def significant_pairs(machine: Values, people: Values, direction: float = 1.0) -> SignificantPairs:
    """Compare the tests of every two runs by a machine's values and by people's, both (runs, topics)."""
    signs = [_significant(values) * np.sign(direction) for values in (machine, people)]
    above = np.triu_indices(len(machine), 1)
    by_machine, by_people = (one[above] for one in signs)
    return SignificantPairs(
        runs=len(machine),
        pairs=by_machine.size,
        by_machine=int(np.count_nonzero(by_machine)),
        by_people=int(np.count_nonzero(by_people)),
        both=int(np.count_nonzero(by_machine * by_people > 0)),
        opposite=int(np.count_nonzero(by_machine * by_people < 0)),
        has_tests=min(machine.shape) > 1,
    )


def _significant(values: Values) -> Values:
    """For every two runs: the sign of their difference where it is significant, else 0."""
    if min(values.shape) <= 1:
        return np.zeros((len(values), len(values)))
    means = np.nanmean(values, axis=1)
    signs: Values = np.sign(means[:, np.newaxis] - means) * paired_tests(values).holm.at_most()
    return signs


def declares_model(model: str, texts: Iterable[str]) -> bool:
    """Whether one of the texts has the name of a model, as a word of its own; upper and lower case are alike."""
    name = model.strip()
    if len(name) < LEAST_NAME:
        return False
    word = rf"(?<![\w.-]){escape(name)}(?![\w-]|\.\w)"
    return any(search(word, text, IGNORECASE) for text in texts)


def ranked(values: Sequence[float | None]) -> list[int]:
    """Places from 1, the greatest first; equal values share the best, and those without a value the last."""
    place: list[int] = places(np.array([-np.inf if value is None else value for value in values])).tolist()
    return place
