"""Rows of runs and qrels in other formats than TREC's, turned into TREC's lines that are checked as any others."""

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

from annotator.errors import Problem, Problems
from annotator.evaluation.formats.identifiers import is_one_word
from annotator.evaluation.formats.table_lines import shown_text

NO_TITLES: Mapping[str, str] = MappingProxyType({})
LINE_VALUES = ("first_line",)  # values of problems that are numbers of lines


@dataclass(frozen=True, slots=True)
class RunRow:
    """A document of a run; missing values are empty, `line` counts from 1."""

    line: int
    topic: str
    docno: str
    rank: str
    score: str
    tag: str


@dataclass(frozen=True, slots=True)
class LabelRow:
    """A document with its grade; `line` counts from 1."""

    line: int
    topic: str
    docno: str
    grade: str


@dataclass(frozen=True)
class Converted:
    """TREC's lines, and for each of them the line of the file that it comes from."""

    text: bytes
    lines: "array[int]"

    def add_problems(self, found: Problems, problems: Problems) -> None:
        """Add the problems of the text, with the lines of the file."""
        for problem in found.first:
            problems.add_problem(self._moved(problem))

    def _moved(self, problem: Problem) -> Problem:
        values = {
            name: self.lines[value - 1] if name in LINE_VALUES and isinstance(value, int) else value
            for name, value in problem.sentence.values.items()
        }
        return replace(
            problem,
            line=self.lines[problem.line - 1] if problem.line and self.lines else None,
            further_lines=tuple(self.lines[line - 1] for line in problem.further_lines),
            sentence=replace(problem.sentence, values=values),
        )


@dataclass
class _Conversion:
    """Builds the lines; notes what cannot be a word of one."""

    name: str
    problems: Problems
    titles: Mapping[str, str]
    text: bytearray = field(default_factory=bytearray)
    lines: "array[int]" = field(default_factory=lambda: array("q"))
    unknown: set[str] = field(default_factory=set)

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The numbers that topics have, which are no queries."""
        return frozenset(self.titles.values())

    def topic(self, line: int, topic: str) -> str | None:
        """The number of a topic, which may be given by its query; None when it cannot be one (noted once)."""
        if topic in self.unknown:
            return None
        number = topic if topic in self.numbers else self.titles.get(query_key(topic), topic)
        if number and is_one_word(number):
            return number
        self.unknown.add(topic)
        if topic and not self.titles:
            self.problems.add(self.name, line, "The topic is given by its query; here it must be its number, one word.")
        elif topic:
            self.problems.add(self.name, line, "There is no topic with the query “%(query)s”.", query=shown_text(topic))
        else:
            self.problems.add(self.name, line, "The entry names no topic.")
        return None

    def is_word(self, line: int, docno: str) -> bool:
        if docno and is_one_word(docno):
            return True
        if docno:
            self.problems.add(
                self.name, line, "“%(document)s” is no document id: it must be one word.", document=shown_text(docno)
            )
        else:
            self.problems.add(self.name, line, "The entry names no document.")
        return False

    def put(self, line: int, *words: str) -> None:
        self.text += " ".join(words).encode(errors="replace") + b"\n"
        self.lines.append(line)

    def done(self) -> Converted:
        return Converted(bytes(self.text), self.lines)


def run_lines(
    name: str, rows: Iterable[RunRow], tag: str, problems: Problems, titles: Mapping[str, str] = NO_TITLES
) -> Converted:
    """TREC's lines of a run; notes rows that cannot be one.

    `titles` maps the queries of topics (see `query_key`) to their numbers; rows without a tag get `tag`. Without
    scores, documents are ordered by rank, and without ranks by the order of the rows.
    """
    made = _Conversion(name, problems, dict(titles))
    counts: dict[str, int] = {}
    for row in rows:
        number = made.topic(row.line, row.topic)
        if number is None or not made.is_word(row.line, row.docno):
            continue
        counts[number] = counts.get(number, 0) + 1
        rank = row.rank or str(counts[number])
        made.put(row.line, number, "Q0", row.docno, _word(rank), _word(row.score or f"-{rank}"), _word(row.tag or tag))
    return made.done()


def label_lines(
    name: str, rows: Iterable[LabelRow], problems: Problems, titles: Mapping[str, str] = NO_TITLES
) -> Converted:
    """TREC's lines of qrels; notes rows that cannot be one. `titles` is as in `run_lines`."""
    made = _Conversion(name, problems, dict(titles))
    for row in rows:
        number = made.topic(row.line, row.topic)
        if number is None or not made.is_word(row.line, row.docno):
            continue
        if row.grade:
            made.put(row.line, number, "0", row.docno, _word(whole(row.grade)))
        else:
            problems.add(name, row.line, "Document %(docno)s has no grade.", docno=row.docno)
    return made.done()


def query_key(query: str) -> str:
    """What two spellings of a query have in common: case and blanks do not matter."""
    return " ".join(query.casefold().split())


def whole(number: str) -> str:
    """Write a number such as 2.0, as tables of floating-point numbers have it, as the whole number that it is."""
    before, point, after = number.partition(".")
    return before if point and before and after.strip("0") == "" else number


def _word(text: str) -> str:
    """The text as one word of a line: blanks become underscores."""
    return "_".join(text.split())
