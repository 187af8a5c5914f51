"""The text format of a collection's grades: `0=Not relevant, 1=Relevant`."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from annotator.errors import InvalidValueError, Problems
from annotator.evaluation.formats.identifiers import check_free_text

LEAST_GRADES = 2
GREATEST_GRADE = 9  # a grade is one key
LONGEST_NAME = 60  # it is shown on a button
LONGEST_DESCRIPTION = 1_000


@dataclass(frozen=True)
class GradeMeaning:
    """A grade with its name and an optional description."""

    value: int
    name: str
    description: str = ""


def parse_scale(text: str) -> tuple[GradeMeaning, ...]:
    """Read `value=name` or `value=name | description`, one per line or separated by commas, as ascending grades.

    Raises `InvalidValueError` for fewer than two grades, a duplicate grade, one outside 0 to 9, or one without a name.
    """
    parts = text.splitlines() if "\n" in text.strip() else text.split(",")
    grades = sorted((_parse_grade(part) for part in parts if part.strip()), key=lambda grade: grade.value)
    if len(grades) < LEAST_GRADES:
        raise InvalidValueError("A scale has at least two grades, such as “0=Not relevant, 1=Relevant”.")
    for lower, higher in pairwise(grades):
        if lower.value == higher.value:
            raise InvalidValueError("The grade %(value)d is in the scale twice.", value=lower.value)
    return tuple(grades)


def format_scale(grades: Sequence[GradeMeaning]) -> str:
    """Format a scale with one grade per line, as `parse_scale` reads it."""
    return "\n".join(
        f"{grade.value}={grade.name}" + (f" | {grade.description}" if grade.description else "") for grade in grades
    )


def check_relevant_from(relevant_from: int, grades: Sequence[GradeMeaning]) -> None:
    """Refuse a relevance threshold that is not a grade, or that makes every document relevant."""
    higher = [grade.value for grade in grades][1:]
    if relevant_from not in higher:
        raise InvalidValueError(
            "Relevant-from is a grade of the scale above the lowest (%(choices)s), not %(given)d.",
            choices=", ".join(map(str, higher)),
            given=relevant_from,
        )


def note_outside_scale(name: str, line: int | None, grade: int, scale: Iterable[int], problems: Problems) -> None:
    """Note a grade that is not in the scale."""
    problems.add(
        name,
        line,
        "The grade %(grade)d is not in the scale of the collection, which has %(scale)s.",
        grade=grade,
        scale=", ".join(map(str, sorted(scale))),
    )


def _parse_grade(part: str) -> GradeMeaning:
    match = re.fullmatch(r"\s*([0-9]{1,9})\s*=\s*([^|]*?)\s*(?:\|\s*(.*?)\s*)?", part)
    if match is None or not match[2]:
        raise InvalidValueError("“%(part)s” is not a grade: write it as “1=Relevant”.", part=part.strip())
    if int(match[1]) > GREATEST_GRADE:
        raise InvalidValueError(
            "A grade is a whole number from 0 to %(most)d, not %(value)s.", most=GREATEST_GRADE, value=match[1]
        )
    check_free_text(match[2], LONGEST_NAME)
    check_free_text(match[3] or "", LONGEST_DESCRIPTION)
    return GradeMeaning(int(match[1]), match[2], match[3] or "")
