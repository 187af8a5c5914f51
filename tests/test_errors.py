"""Errors: sentences with their values apart, and lists of problems that end somewhere."""

import pytest

from annotator import errors
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
    """Of which the second has 149 different ones, from its last line to its first."""
    problems = Problems()
    problems.add("a.run", None, "The file is empty.")
    for line in reversed(range(1, 150)):
        problems.add("b.run", line, "The score %(score)s is no number.", score=f"x{line}")
    problems.add("c.run", 7, "The score %(score)s is no number.", score="y")
    return problems


def test_problems_are_told_as_compilers_do_and_past_a_hundred_of_one_file_only_counted() -> None:
    with pytest.raises(FileRefusedError, match="Problems found: 151") as refusal:
        problems_of_three_files().refuse_if_any()
    told = [str(problem) for problem in refusal.value.problems]
    assert told[:2] == ["a.run: The file is empty.", "b.run:50: The score x50 is no number."]
    assert told[-3:] == [
        "b.run:149: The score x149 is no number.",
        "b.run: Further problems of this file: 49.",
        "c.run:7: The score y is no number.",
    ]
    assert len(told) == 1 + MAX_PROBLEMS + 1 + 1
    assert refusal.value.total == 151


def test_equal_problems_are_one_with_its_first_lines_and_a_count() -> None:
    problems = Problems()
    for line in reversed(range(3, 260)):
        problems.add("b.run", line, "The line has one column.")
    problems.add("b.run", 90, "The score %(score)s is no number.", score="x")
    assert list(map(str, problems.by_file())) == [
        "b.run:3: The line has one column. The same on lines 4, 5, 6, 7 and 252 more.",
        "b.run:90: The score x is no number.",
    ]
    assert problems.total == 258


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([4], "f:4: Wrong."),
        ([9, 4], "f:4: Wrong. The same on line 9."),
        ([4, 9, 7], "f:4: Wrong. The same on lines 7, 9."),
        ([None, None], "f: Wrong. Found 2 times."),
    ],
)
def test_where_a_problem_comes_again_is_told(lines: list[int | None], told: str) -> None:
    problems = Problems()
    for line in lines:
        problems.add("f", line, "Wrong.")
    assert list(map(str, problems.by_file())) == [told]


def test_the_one_different_problem_comes_before_a_hundred_of_a_kind() -> None:
    problems = Problems()
    for line in range(1, 500):
        problems.add("b.run", line, "Document %(docno)s comes twice.", docno=f"d{line}")
    problems.add("b.run", 700, "The line has one column.")
    first, second, *_, last = map(str, problems.by_file())
    assert first == "b.run:700: The line has one column."
    assert second == "b.run:1: Document d1 comes twice."
    assert last == f"b.run: Further problems of this file: {499 - MAX_PROBLEMS}."


def test_a_hundred_problems_of_a_file_are_all_that_there_are_to_tell() -> None:
    problems = Problems()
    for line in range(1, MAX_PROBLEMS + 1):
        problems.add("b.run", line, "The line %(line)d is wrong.", line=line)
    assert [problem.line for problem in problems.by_file()] == list(range(1, MAX_PROBLEMS + 1))


def test_problems_found_elsewhere_count_as_if_they_had_been_found_here() -> None:
    here, there, together = Problems(), problems_of_three_files(), problems_of_three_files()
    here.add("b.run", 200, "The score %(score)s is no number.", score="x149")
    here.add_all(there)
    assert here.total == together.total + 1
    [further] = [problem for problem in here.by_file() if problem.file == "b.run" and problem.line is None]
    assert str(further) == "b.run: Further problems of this file: 49."
    [again] = [problem for problem in here.by_file() if problem.count > 1]
    assert str(again) == "b.run:149: The score x149 is no number. The same on line 200."
    assert [problem.file for problem in here.by_file()].count("c.run") == 1


def test_a_file_with_very_many_problems_is_read_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "MOST_COUNTED", 3)
    problems = Problems()
    problems.add("other", 1, "Odd.")
    problems.add("f", 1, "Wrong.")
    problems.add("f", 2, "Wrong.")
    with pytest.raises(FileRefusedError, match="Reading stopped after 4 problems"):
        problems.add("f", 3, "Wrong.")
