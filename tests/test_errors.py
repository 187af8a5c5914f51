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


def problems_of_three_files() -> Problems:
    """Of which the second has 149, from its last line to its first."""
    problems = Problems()
    problems.add("a.run", None, "The file is empty.")
    for line in reversed(range(1, 150)):
        problems.add("b.run", line, "The score %(score)s is no number.", score="x")
    problems.add("c.run", 7, "The score %(score)s is no number.", score="y")
    return problems


def test_problems_are_told_as_compilers_do_and_past_a_hundred_of_one_file_only_counted() -> None:
    with pytest.raises(FileRefusedError, match="Problems found: 151") as refusal:
        problems_of_three_files().refuse_if_any()
    told = [str(problem) for problem in refusal.value.problems]
    assert told[:2] == ["a.run: The file is empty.", "b.run:50: The score x is no number."]
    assert told[-3:] == [
        "b.run:149: The score x is no number.",
        "b.run: Further problems of this file: 49.",
        "c.run:7: The score y is no number.",
    ]
    assert len(told) == 1 + MAX_PROBLEMS + 1 + 1
    assert refusal.value.total == 151


def test_a_hundred_problems_of_a_file_are_all_that_there_are_to_tell() -> None:
    problems = Problems()
    for line in range(1, MAX_PROBLEMS + 1):
        problems.add("b.run", line, "The line is wrong.")
    assert [problem.line for problem in problems.by_file()] == list(range(1, MAX_PROBLEMS + 1))


def test_problems_found_elsewhere_count_as_if_they_had_been_found_here() -> None:
    here, there, together = Problems(), problems_of_three_files(), problems_of_three_files()
    here.add("b.run", 200, "The line is wrong.")
    here.add_all(there)
    assert here.total == together.total + 1
    [further] = [problem for problem in here.by_file() if problem.file == "b.run" and problem.line is None]
    assert str(further) == "b.run: Further problems of this file: 50."
    assert [problem.file for problem in here.by_file()].count("c.run") == 1
