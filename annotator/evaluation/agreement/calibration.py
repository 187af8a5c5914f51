"""How much a machine's confidence in its labels is worth: the calibration curve and its expected error."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.errors import Sentence
from annotator.evaluation.agreement.judge_effect import Grades
from annotator.evaluation.leaderboard.rescoring import NOT_GRADED
from annotator.evaluation.metrics.figures import Figure, SentenceEnum

BINS = 10  # of equal width, from 0 to 1


class Undefined(SentenceEnum):
    """Why there is no value."""

    NO_CONFIDENCE = Sentence("The machine gave no confidence with a label of a document that people have graded.")
    GRADE_NOT_GIVEN = Sentence("People gave this grade to no document that the machine labelled.")


@dataclass(frozen=True)
class Bin:
    """Labels whose confidence is from `low` up to below `high`, the last one included: 1 is in the highest bin."""

    low: float
    high: float
    labels: int
    confidence: float  # mean
    right: float  # share that equals the grade of people


@dataclass(frozen=True)
class Calibration:
    """The bins with a label; the expected calibration error is the mean distance of confidence and share right."""

    labels: int
    bins: tuple[Bin, ...]
    error: Figure


@dataclass(frozen=True)
class GradeBias:
    """Documents to which people gave one grade: how many, and the mean of the machine's grade minus theirs."""

    grade: int
    documents: int
    bias: Figure


def calibration(machine: Grades, people: Grades, confidences: Mapping[int, float]) -> Calibration:
    """Compare the confidence in labels, {place: confidence}, with whether they equal the grade of people.

    The arrays are parallel, `NOT_GRADED` without a grade. Expected calibration error over bins of equal width: Naeini,
    Cooper and Hauskrecht, AAAI 2015.
    """
    places = np.fromiter(confidences, np.intp, len(confidences))
    given = np.fromiter(confidences.values(), np.float64, len(confidences))
    has_both = (machine[places] > NOT_GRADED) & (people[places] > NOT_GRADED)
    places, given = places[has_both], given[has_both]
    right = machine[places] == people[places]
    if not given.size:
        return Calibration(0, (), Figure(None, Undefined.NO_CONFIDENCE))
    # Confidences have single precision: 0.3 would be below the bin that begins there.
    place = np.minimum((np.round(given, 6) * BINS).astype(np.intp), BINS - 1)
    counts = np.bincount(place, minlength=BINS)
    sums = np.bincount(place, weights=given, minlength=BINS)
    hits = np.bincount(place, weights=right, minlength=BINS)
    bins = tuple(
        Bin(number / BINS, (number + 1) / BINS, int(count), float(total / count), float(hit / count))
        for number, (count, total, hit) in enumerate(zip(counts, sums, hits, strict=True))
        if count
    )
    return Calibration(given.size, bins, Figure(float(np.abs(sums - hits).sum() / given.size)))


def bias_by_grade(confusion: NDArray[np.int64], scale: tuple[int, ...]) -> tuple[GradeBias, ...]:
    """For each grade of people, the columns of the confusion matrix, the mean error of the machine, its rows."""
    values = np.array(scale)
    counts = confusion.sum(axis=0)
    sums = (values[:, np.newaxis] - values) * confusion
    return tuple(
        GradeBias(grade, int(count), Figure(float(total / count)) if count else Figure(None, Undefined.GRADE_NOT_GIVEN))
        for grade, count, total in zip(scale, counts, sums.sum(axis=0), strict=True)
    )
