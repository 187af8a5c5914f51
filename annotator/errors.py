"""What can be refused, in sentences: every error a person may read, its values kept apart from its words."""

from collections.abc import Mapping
from dataclasses import dataclass, field

MAX_PROBLEMS = 100


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
    """Somebody else holds what is needed for too long; the same may go through later."""


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
        """Take the problems over, at most `MAX_PROBLEMS` of them with their total number."""
        # File by file in the order they were given, and each from its first line to its last.
        files = list(dict.fromkeys(problem.file for problem in problems.first))
        self.problems = tuple(
            sorted(problems.first, key=lambda problem: (files.index(problem.file), problem.line or 0))
        )
        self.total = problems.total
        told = summary or Sentence("Nothing was stored. Problems found: %(total)d.", {"total": problems.total})
        super().__init__(told.template, **told.values)


class Problems:
    """Collects what is wrong with files, so that a person mends them once and not line by line."""

    def __init__(self) -> None:
        """Begin with none."""
        self.first: list[Problem] = []
        self.total = 0

    def add(self, file: str, line: int | None, template: str, /, **values: object) -> None:
        """Note a problem; past `MAX_PROBLEMS` they are only counted."""
        self.total += 1
        if len(self.first) < MAX_PROBLEMS:
            self.first.append(Problem(file, line, Sentence(template, values)))

    def refuse_if_any(self) -> None:
        """Raise `FileRefusedError` when anything was noted."""
        if self.total:
            raise FileRefusedError(self)
