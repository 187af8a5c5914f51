"""What each judge judged of the documents that were shown to them, in order of storage, with the time taken."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.agreement.judge_quality import Streak, Work, fast_streaks, least_seconds, work_of_judges
from annotator.evaluation.qrels.topic_judgements import (
    ADJUDICATES,
    CARRIED,
    CURRENT,
    NO_GRADE,
    OWN_TIME,
    REPLACES,
    SHOWN_AGAIN,
    JudgementColumns,
    begins_of,
)


@dataclass(frozen=True, eq=False)
class OwnWork:
    """All judgements of one judge, replaced ones too."""

    judgements: JudgementColumns

    @cached_property
    def first(self) -> JudgementColumns:
        """The first judgement of each showing of a document, without later changes."""
        return self.judgements.where(~self.judgements.have(REPLACES))

    @cached_property
    def current(self) -> JudgementColumns:
        """The judgements that count now."""
        return self.judgements.where(self.judgements.have(CURRENT))

    @property
    def judged(self) -> int:
        """The number of documents judged."""
        return int(self.current.id.size)

    @property
    def could_not(self) -> int:
        """The number of documents that the judge could not judge."""
        return int((~self.current.is_graded).sum())

    @cached_property
    def seconds(self) -> list[float]:
        """The known times of first judgements."""
        known: list[float] = self.first.seconds[~np.isnan(self.first.seconds)].tolist()
        return known

    def items_under(self, seconds: float) -> set[int]:
        """The items that took less than this number of seconds."""
        return set(self.first.item[self.first.seconds < seconds].tolist())

    def streaks(self, below: float, characters: Mapping[int, int], least_length: int) -> list[Streak]:
        """Find runs of fast first judgements, {item: length of its text}; unknown lengths need no time to read."""
        few = np.full(self.first.item.size, below)
        for place in np.flatnonzero(np.isin(self.first.item, list(characters))).tolist():
            few[place] = max(below, least_seconds(characters[int(self.first.item[place])]))
        return fast_streaks(self.first.seconds, few, least_length)

    def only_grade(self, streak: Streak) -> int | None:
        """The grade if all first judgements of a streak gave the same."""
        grades = set(self.first.grade[streak.start : streak.stop].tolist())
        return _known(grades.pop()) if len(grades) == 1 else None

    def answers(self, known: Mapping[int, int]) -> list[bool]:
        """Whether each present grade of a gold question, {item: grade}, is the known one."""
        answered = self.current.where(np.isin(self.current.item, list(known)) & self.current.is_graded)
        return [known[item] == grade for item, grade in _pairs(answered.item, answered.grade)]

    def again(self) -> list[tuple[int, int]]:
        """Pairs of grades: what the judge's judgement was until a second showing, and the last of that showing."""
        is_again = self.judgements.have(SHOWN_AGAIN)
        some = self.judgements.where(np.isin(self.judgements.item, self.judgements.item[is_again]))
        until: dict[int, int] = {}  # item → the judge's current grade so far
        pairs: dict[int, tuple[int, int]] = {}  # assignment → (that grade, last of the second showing)
        rows = zip(*(column.tolist() for column in (some.item, some.assignment, some.grade)), strict=True)
        for (item, assignment, grade), again in zip(rows, some.have(SHOWN_AGAIN).tolist(), strict=True):
            if not again:
                until[item] = grade
            elif item in until:
                pairs[assignment] = (pairs.get(assignment, (until[item],))[0], grade)
        return [pair for pair in pairs.values() if NO_GRADE not in pair]


def work_by_judge(judgements: JudgementColumns, people: Collection[int]) -> dict[int, OwnWork]:
    """Divide judgements by judge, without decisions of adjudicators and what was carried over."""
    given = judgements.where(~judgements.have(CARRIED) & ~judgements.have(ADJUDICATES) & judgements.by(list(people)))
    given = given.take(np.lexsort((given.id, given.judge)))
    starts = np.flatnonzero(begins_of(given.judge)).tolist()
    return {
        int(given.judge[start]): OwnWork(given.part(start, end)) for start, end in pairwise([*starts, given.judge.size])
    }


def compare_work(work: Mapping[int, OwnWork], relevant_from: int) -> dict[int, Work]:
    """Compare each judge's present grades with those of the others."""
    graded = [own.current.where(own.current.is_graded) for own in work.values()]

    def together(name: str) -> NDArray[np.int64]:
        return np.concatenate([np.zeros(0, np.int64), *(getattr(one, name) for one in graded)])

    timed = np.concatenate([np.zeros(0, np.bool_), *(one.have(OWN_TIME) for one in graded)])
    return work_of_judges(
        together("judge"), together("topic"), together("item"), together("grade"), relevant_from, timed
    )


def _known(grade: int) -> int | None:
    return None if grade == NO_GRADE else grade


def _pairs(first: NDArray[np.int64], second: NDArray[np.int64]) -> list[tuple[int, int]]:
    return list(zip(first.tolist(), second.tolist(), strict=True))
