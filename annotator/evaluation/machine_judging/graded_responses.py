"""The grade in a model's response, its probability, and the vote of several samples; nothing is guessed."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from annotator.evaluation.machine_judging.completions import Completion

# A whole number, and no fraction, range or choice, such as 2.5, 2/3, 1-2 and “2 or 3”.
NUMBER = r"(?P<number>[-+]?\d{1,9})(?![\d.,]*\d)(?!\s*(?:/|-|\u2013|or|to|and)\s*\d)"
# What names the decision, most decisive first. The last form is UMBRELA's, where a prompt asks for it by its letter.
NAMED = tuple(
    re.compile(rf"\b{name}[\"'*_]*\s*(?:is\s*)?[:=]?\s*[\"'*_(\[]*{NUMBER}", re.IGNORECASE)
    for name in (r"final[\s_]+(?:score|grade|answer)", r"(?:grade|score|relevance|answer|label|rating)", "O")
)
ALONE = re.compile(rf"[\s\"'*_(\[#]*{NUMBER}[\s\"'*_)\].]*")


class NoGrade(StrEnum):
    """Why a response has no valid grade."""

    EMPTY = "empty"
    NONE_NAMED = "none-named"
    SEVERAL = "several"
    OFF_SCALE = "off-scale"


@dataclass(frozen=True)
class ReadGrade:
    """The grade in a response, or why there is none; `at` is where its number begins."""

    grade: int | None
    reason: NoGrade | None = None
    at: int = 0


@dataclass(frozen=True)
class Vote:
    """The grade of a document by its samples.

    `confidence` is the probability of the grade where the endpoint returned probabilities, else its share of the valid
    samples; `probabilities` are in the order of the scale, as means over the samples that have them.
    """

    grade: int
    confidence: float
    probabilities: tuple[float, ...] | None


def grade_in(text: str, grades: Sequence[int]) -> ReadGrade:
    """Read the grade of the scale `grades` that a response gives.

    The number is the whole response, or follows a word that names it, such as “final score: 2” or {"grade": 2}. Two
    different numbers after words of the same rank are no grade.
    """
    if not text.strip():
        return ReadGrade(None, NoGrade.EMPTY)
    alone = ALONE.fullmatch(text)
    found = [alone] if alone else next((some for form in NAMED if (some := list(form.finditer(text)))), [])
    numbers = {int(one["number"]) for one in found}
    if not numbers:
        return ReadGrade(None, NoGrade.NONE_NAMED)
    if len(numbers) > 1:
        return ReadGrade(None, NoGrade.SEVERAL)
    [number] = numbers
    if number not in grades:
        return ReadGrade(None, NoGrade.OFF_SCALE)
    return ReadGrade(number, at=found[-1].start("number"))


def probabilities_in(completion: Completion, grades: Sequence[int], at: int) -> tuple[float, ...] | None:
    """The probability of each grade at the place of the response where the grade is, in the order of the scale.

    They are scaled to the sum 1, as other tokens are possible there. None where the endpoint returned none, or where
    the number is no token of its own.
    """
    begin = 0
    for token in completion.tokens:
        end = begin + len(token.text)
        if begin <= at < end:
            return _of_grades(token.alternatives, grades) if _as_grade(token.text) in grades else None
        begin = end
    return None


def vote(sampled: Sequence[tuple[int, tuple[float, ...] | None]], grades: Sequence[int]) -> Vote | None:
    """The grade that most samples gave; the lowest of those that tie, as models err on the side of too much.

    `sampled` has the grade of each valid sample and the probabilities of the grades, if known. None without a sample.
    """
    if not sampled:
        return None
    counts = Counter(grade for grade, _ in sampled)
    winner = min(counts, key=lambda grade: (-counts[grade], grade))
    known = [probabilities for _, probabilities in sampled if probabilities is not None]
    means = tuple(sum(column) / len(known) for column in zip(*known, strict=True)) if known else None
    confidence = counts[winner] / len(sampled) if means is None else means[list(grades).index(winner)]
    return Vote(winner, confidence, means)


def _as_grade(token: str) -> int | None:
    written = token.strip()
    return int(written) if re.fullmatch(r"[-+]?\d{1,9}", written, re.ASCII) else None


def _of_grades(alternatives: Mapping[str, float], grades: Sequence[int]) -> tuple[float, ...] | None:
    shares = dict.fromkeys(grades, 0.0)
    for token, logprob in alternatives.items():
        grade = _as_grade(token)
        if grade is not None and grade in shares:
            shares[grade] += math.exp(logprob)
    total = sum(shares.values())
    return tuple(share / total for share in shares.values()) if total > 0 else None
