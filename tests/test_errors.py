"""Errors: sentences with their values apart, and lists of problems that end somewhere."""

import pytest

from annotator.errors import MAX_PROBLEMS, AnnotatorError, FileRefusedError, NotFoundError, Problems


def test_a_refusal_says_its_sentence_and_keeps_its_values() -> None:
    error = NotFoundError("There is no run “%(tag)s”.", tag="bm25 100%")
    assert str(error) == "There is no run “bm25 100%”."
    assert error.sentence.template == "There is no run “%(tag)s”."
    assert error.sentence.values == {"tag": "bm25 100%"}


def test_a_sentence_without_values_may_hold_a_percent_sign() -> None:
    assert str(AnnotatorError("Under 95 %% is judged.")) == "Under 95 % is judged."


def test_no_problem_is_no_refusal() -> None:
    Problems().refuse_if_any()


def test_problems_are_told_as_compilers_do_and_counted_past_the_first_hundred() -> None:
    problems = Problems()
    problems.add("a.run", None, "The file is empty.")
    for line in range(1, 150):
        problems.add("b.run", line, "The score %(score)s is no number.", score="x")
    with pytest.raises(FileRefusedError, match="Problems found: 150") as refusal:
        problems.refuse_if_any()
    assert len(refusal.value.problems) == MAX_PROBLEMS
    assert refusal.value.total == 150
    assert [str(problem) for problem in refusal.value.problems[:2]] == [
        "a.run: The file is empty.",
        "b.run:1: The score x is no number.",
    ]
