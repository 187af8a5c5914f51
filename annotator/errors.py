"""Errors that people may read: sentences whose values are kept apart from the text."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

MAX_PROBLEMS = 100  # distinct problems listed per file
# After so many problems a file is read no further: it is of another format, or an attack.
MOST_COUNTED = 20_000
NOTED_PROBLEMS = 10  # that a traceback shows
MANY_OF_A_KIND = 10  # problems with different values of one template
FURTHER_LINES = 4  # listed for repeated problems, after the first


@dataclass(frozen=True)
class Sentence:
    """A sentence with its values apart, so that it can be translated for the reader.

    `template` is English in `%(name)s` form and is the key of the translation catalogue.
    """

    template: str
    values: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        """The sentence in English."""
        return self.template % self.values


class AnnotatorError(Exception):
    """The base class of all expected errors; bugs raise others.

    `is_conflict`: stored data, not the request, are the reason.
    """

    is_conflict = False

    def __init__(self, template: str, /, **values: object) -> None:
        """Keep the sentence; `str(error)` is its English text."""
        self.sentence = Sentence(template, values)
        super().__init__(str(self.sentence))


class NotFoundError(AnnotatorError):
    """The thing does not exist, or this person may not know of it."""


class NotAllowedError(AnnotatorError):
    """The person may know that the thing exists, but may not do this."""


class ConflictError(AnnotatorError):
    """The request contradicts stored data: a name in use, a closed collection."""

    is_conflict = True


class BusyError(AnnotatorError):
    """A lock is held for too long, or the database cannot be written; a retry may succeed."""


class InvalidValueError(AnnotatorError):
    """A value is out of range or malformed."""


@dataclass(frozen=True)
class Problem:
    """A problem in a file; `line` counts from 1, None for the whole file.

    `count` lines or places of the file have the same problem; `further_lines` are the first of them after `line`.
    """

    file: str
    line: int | None
    sentence: Sentence
    count: int = 1
    further_lines: tuple[int, ...] = ()

    @property
    def repeats(self) -> Sentence | None:
        """The other places with the same problem; None if there is only one."""
        uncounted = self.count - 1 - len(self.further_lines)
        lines = ", ".join(map(str, self.further_lines))
        if self.further_lines and uncounted:
            return Sentence("The same on lines %(lines)s and %(count)d more.", {"lines": lines, "count": uncounted})
        if len(self.further_lines) > 1:
            return Sentence("The same on lines %(lines)s.", {"lines": lines})
        if self.further_lines:
            return Sentence("The same on line %(lines)s.", {"lines": lines})
        return Sentence("Found %(count)d times.", {"count": self.count}) if uncounted else None

    def __str__(self) -> str:
        """The problem as compilers print it: `FILE:LINE: message`."""
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.sentence}" + (f" {self.repeats}" if self.repeats else "")


class FileRefusedError(AnnotatorError):
    """One or more files have problems; nothing from any of them was stored or otherwise processed."""

    def __init__(self, problems: "Problems", summary: Sentence | None = None) -> None:
        """Keep the listed problems by file, and their total number."""
        self.problems = problems.by_file()
        self.total = problems.total
        told = summary or Sentence("Nothing was stored. Problems found: %(total)d.", {"total": problems.total})
        super().__init__(told.template, **told.values)
        for problem in self.problems[:NOTED_PROBLEMS]:  # shown below the error by Python and by notebooks
            self.add_note(str(problem))


class _FileProblems:
    """The problems of one file; equal sentences are one problem with several lines."""

    def __init__(self) -> None:
        self.total = 0
        self.by_sentence: dict[str, Problem] = {}
        self.templates: Counter[str] = Counter()  # of the listed problems

    def add(self, problem: Problem) -> None:
        """Count a problem and list it; past `MAX_PROBLEMS` only if it is of a kind that is not listed yet."""
        self.total += problem.count
        sentence = str(problem.sentence)
        listed = self.by_sentence.get(sentence)
        if listed is not None:
            self.by_sentence[sentence] = _merged(listed, problem)
        elif len(self.by_sentence) < MAX_PROBLEMS or problem.sentence.template not in self.templates:
            self.by_sentence[sentence] = problem
            self.templates[problem.sentence.template] += 1

    def add_all(self, other: "_FileProblems") -> None:
        """Add the problems of another instance, including those only counted there."""
        total = self.total + other.total
        for problem in other.by_sentence.values():
            self.add(problem)
        self.total = total

    def listed(self, file: str) -> list[Problem]:
        """The problems by their first line; frequent kinds come last, so that they do not hide the others."""
        problems = sorted(
            self.by_sentence.values(),
            key=lambda problem: (self.templates[problem.sentence.template] > MANY_OF_A_KIND, problem.line or 0),
        )
        if further := self.total - sum(problem.count for problem in problems):
            sentence = Sentence("Further problems of this file: %(count)d.", {"count": further})
            problems.append(Problem(file, None, sentence))
        return problems


class Problems:
    """Collects the problems of files, so that all are reported at once."""

    def __init__(self) -> None:
        """Start without problems."""
        self.total = 0
        self._files: dict[str, _FileProblems] = {}  # in the order in which files were first named

    @property
    def first(self) -> list[Problem]:
        """The listed problems, by file in the order in which they were found."""
        return [problem for problems in self._files.values() for problem in problems.by_sentence.values()]

    def add(self, file: str, line: int | None, template: str, /, **values: object) -> None:
        """Add a problem; past `MAX_PROBLEMS` different ones of its file it may only be counted.

        Raises `FileRefusedError` when the file has so many that reading on is pointless.
        """
        self.add_problem(Problem(file, line, Sentence(template, values)))
        if self._of(file).total >= MOST_COUNTED:
            raise FileRefusedError(self, Sentence("Reading stopped after %(total)d problems.", {"total": self.total}))

    def add_problem(self, problem: Problem) -> None:
        """Add an existing problem with its count."""
        self.total += problem.count
        self._of(problem.file).add(problem)

    def add_all(self, others: "Problems") -> None:
        """Add the problems of another collection, including those only counted there."""
        self.total += others.total
        for file, problems in others._files.items():  # noqa: SLF001 - of the same class
            self._of(file).add_all(problems)

    def by_file(self) -> tuple[Problem, ...]:
        """List the problems file by file in the given order, within a file as `_FileProblems.listed` orders them.

        The last entry of a file with more problems than are listed states their number.
        """
        return tuple(problem for file, problems in self._files.items() for problem in problems.listed(file))

    def refuse_if_any(self) -> None:
        """Raise `FileRefusedError` if there are problems."""
        if self.total:
            raise FileRefusedError(self)

    def report_if_any(self) -> None:
        """Raise `FileRefusedError` if there are problems, with a message for files that were only checked."""
        if self.total:
            raise FileRefusedError(self, Sentence("Problems found: %(total)d.", {"total": self.total}))

    def _of(self, file: str) -> _FileProblems:
        return self._files.setdefault(file, _FileProblems())


def _merged(one: Problem, other: Problem) -> Problem:
    """One problem with the lines of both; only the first lines are listed."""
    count = one.count + other.count
    full = len(one.further_lines) == FURTHER_LINES
    if one.line is None or other.line is None or (full and other.line > one.further_lines[-1]):
        return replace(one, count=count)
    first, *further = sorted({one.line, *one.further_lines, other.line, *other.further_lines})
    return replace(one, line=first, count=count, further_lines=tuple(further[:FURTHER_LINES]))
