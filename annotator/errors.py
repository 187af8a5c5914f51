"""What can be refused, in sentences: every error a person may read, its values kept apart from its words."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

MAX_PROBLEMS = 100  # different ones that are listed of one file
# After so many problems of one file it is read no further: it is another kind of file, or meant to keep somebody busy.
MOST_COUNTED = 20_000
MANY_OF_A_KIND = 10  # problems with different values of one template
FURTHER_LINES = 4  # that are named of equal problems, after the first


@dataclass(frozen=True)
class Sentence:
    """Words with their values apart, so that the edge can say them in the reader's language.

    `template` is English in `%(name)s` form and is the key of the translation catalogue.
    """

    template: str
    values: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        """Say it in English."""
        return self.template % self.values


class AnnotatorError(Exception):
    """The root of all refusals; bugs are not among them."""

    def __init__(self, template: str, /, **values: object) -> None:
        """Keep the sentence; `str(error)` is its English."""
        self.sentence = Sentence(template, values)
        super().__init__(str(self.sentence))


class NotFoundError(AnnotatorError):
    """There is no such thing, or none that this person may know of."""


class NotAllowedError(AnnotatorError):
    """The thing exists and the person may know it, but not do this."""


class ConflictError(AnnotatorError):
    """It contradicts what is stored: a name taken, a collection closed."""


class BusyError(AnnotatorError):
    """Somebody else holds what is needed for too long, or nothing can be written; the same may go through later."""


class InvalidValueError(AnnotatorError):
    """A value that was given is outside what is possible."""


@dataclass(frozen=True)
class Problem:
    """One thing wrong with a file; `line` counts from 1, None when the whole file is meant.

    `count` lines or places of the file have the same problem; `further_lines` are the first of them after `line`.
    """

    file: str
    line: int | None
    sentence: Sentence
    count: int = 1
    further_lines: tuple[int, ...] = ()

    @property
    def repeats(self) -> Sentence | None:
        """Where else the file has it; None when it has it once."""
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
        """Say it as compilers do: `FILE:LINE: what is wrong`."""
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.sentence}" + (f" {self.repeats}" if self.repeats else "")


class FileRefusedError(AnnotatorError):
    """One or more files have problems; nothing of them was stored, or whatever else was to be done with them."""

    def __init__(self, problems: "Problems", summary: Sentence | None = None) -> None:
        """Take the problems over, file by file, with their total number."""
        self.problems = problems.by_file()
        self.total = problems.total
        told = summary or Sentence("Nothing was stored. Problems found: %(total)d.", {"total": problems.total})
        super().__init__(told.template, **told.values)


class _FileProblems:
    """What is wrong with one file: equal sentences are one problem with the lines that have it."""

    def __init__(self) -> None:
        self.total = 0
        self.by_sentence: dict[str, Problem] = {}
        self.templates: Counter[str] = Counter()  # of the listed problems

    def add(self, problem: Problem) -> None:
        """Count a problem and list it; past `MAX_PROBLEMS` only kinds that are not listed yet are still listed."""
        self.total += problem.count
        sentence = str(problem.sentence)
        listed = self.by_sentence.get(sentence)
        if listed is not None:
            self.by_sentence[sentence] = _merged(listed, problem)
        elif len(self.by_sentence) < MAX_PROBLEMS or problem.sentence.template not in self.templates:
            self.by_sentence[sentence] = problem
            self.templates[problem.sentence.template] += 1

    def add_all(self, other: "_FileProblems") -> None:
        """Add what was found elsewhere, also what was only counted there."""
        total = self.total + other.total
        for problem in other.by_sentence.values():
            self.add(problem)
        self.total = total

    def listed(self, file: str) -> list[Problem]:
        """The problems by their first lines, kinds with many of them last so that they do not hide the others."""
        problems = sorted(
            self.by_sentence.values(),
            key=lambda problem: (self.templates[problem.sentence.template] > MANY_OF_A_KIND, problem.line or 0),
        )
        if further := self.total - sum(problem.count for problem in problems):
            sentence = Sentence("Further problems of this file: %(count)d.", {"count": further})
            problems.append(Problem(file, None, sentence))
        return problems


class Problems:
    """Collects what is wrong with files, so that a person mends them once and not line by line."""

    def __init__(self) -> None:
        """Begin with none."""
        self.total = 0
        self._files: dict[str, _FileProblems] = {}  # in the order in which files were first named

    @property
    def first(self) -> list[Problem]:
        """Those that are listed, of each file in the order in which they were found."""
        return [problem for problems in self._files.values() for problem in problems.by_sentence.values()]

    def add(self, file: str, line: int | None, template: str, /, **values: object) -> None:
        """Note a problem; past `MAX_PROBLEMS` different ones of its file it may only be counted.

        Raises `FileRefusedError` when the file has so many that there is no use in reading on.
        """
        self.add_problem(Problem(file, line, Sentence(template, values)))
        if self._of(file).total >= MOST_COUNTED:
            raise FileRefusedError(self, Sentence("Reading stopped after %(total)d problems.", {"total": self.total}))

    def add_problem(self, problem: Problem) -> None:
        """Note a problem that was found elsewhere, as often as it was found there."""
        self.total += problem.count
        self._of(problem.file).add(problem)

    def add_all(self, others: "Problems") -> None:
        """Note what was found elsewhere, also what was only counted there."""
        self.total += others.total
        for file, problems in others._files.items():  # noqa: SLF001 - it is of this class
            self._of(file).add_all(problems)

    def by_file(self) -> tuple[Problem, ...]:
        """List them file by file in the order they were given, as `_FileProblems.listed` orders those of a file.

        A file that has more than are listed says last how many.
        """
        return tuple(problem for file, problems in self._files.items() for problem in problems.listed(file))

    def refuse_if_any(self) -> None:
        """Raise `FileRefusedError` when anything was noted."""
        if self.total:
            raise FileRefusedError(self)

    def report_if_any(self) -> None:
        """Do as `refuse_if_any` for files that were only to be looked at: storing nothing was the aim."""
        if self.total:
            raise FileRefusedError(self, Sentence("Problems found: %(total)d.", {"total": self.total}))

    def _of(self, file: str) -> _FileProblems:
        return self._files.setdefault(file, _FileProblems())


def _merged(one: Problem, other: Problem) -> Problem:
    """The same problem with the lines of both, the first of them listed."""
    count = one.count + other.count
    full = len(one.further_lines) == FURTHER_LINES
    if one.line is None or other.line is None or (full and other.line > one.further_lines[-1]):
        return replace(one, count=count)
    first, *further = sorted({one.line, *one.further_lines, other.line, *other.further_lines})
    return replace(one, line=first, count=count, further_lines=tuple(further[:FURTHER_LINES]))
