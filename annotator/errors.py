"""What can be refused, in sentences: every error a person may read, its values kept apart from its words."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

MAX_PROBLEMS = 100  # that are told of one file


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
    """One thing wrong with a file; `line` counts from 1, None when the whole file is meant."""

    file: str
    line: int | None
    sentence: Sentence

    def __str__(self) -> str:
        """Say it as compilers do: `FILE:LINE: what is wrong`."""
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.sentence}"


class FileRefusedError(AnnotatorError):
    """One or more files have problems; nothing of them was stored, or whatever else was to be done with them."""

    def __init__(self, problems: "Problems", summary: Sentence | None = None) -> None:
        """Take the problems over, file by file, with their total number."""
        self.problems = problems.by_file()
        self.total = problems.total
        told = summary or Sentence("Nothing was stored. Problems found: %(total)d.", {"total": problems.total})
        super().__init__(told.template, **told.values)


class Problems:
    """Collects what is wrong with files, so that a person mends them once and not line by line."""

    def __init__(self) -> None:
        """Begin with none."""
        self.first: list[Problem] = []  # of each file at most `MAX_PROBLEMS`
        self.total = 0
        self.counts: dict[str, int] = {}  # by file, in the order in which files were first named

    def add(self, file: str, line: int | None, template: str, /, **values: object) -> None:
        """Note a problem; past `MAX_PROBLEMS` of its file it is only counted."""
        self._add(Problem(file, line, Sentence(template, values)))

    def add_all(self, others: "Problems") -> None:
        """Note what was found elsewhere, also what was only counted there."""
        for problem in others.first:
            self._add(problem)
        listed = Counter(problem.file for problem in others.first)
        for file, count in others.counts.items():
            self.counts[file] += count - listed[file]
        self.total += others.total - len(others.first)

    def by_file(self) -> tuple[Problem, ...]:
        """List them file by file in the order they were given, each from its first line to its last.

        A file that has more than are listed says last how many.
        """
        of_file: dict[str, list[Problem]] = {file: [] for file in self.counts}
        for problem in self.first:
            of_file[problem.file].append(problem)
        for file, listed in of_file.items():
            listed.sort(key=lambda problem: problem.line or 0)
            if further := self.counts[file] - len(listed):
                listed.append(
                    Problem(file, None, Sentence("Further problems of this file: %(count)d.", {"count": further}))
                )
        return tuple(problem for listed in of_file.values() for problem in listed)

    def refuse_if_any(self) -> None:
        """Raise `FileRefusedError` when anything was noted."""
        if self.total:
            raise FileRefusedError(self)

    def _add(self, problem: Problem) -> None:
        self.total += 1
        self.counts[problem.file] = count = self.counts.get(problem.file, 0) + 1
        if count <= MAX_PROBLEMS:
            self.first.append(problem)
