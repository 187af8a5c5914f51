"""Detects headings and files of another kind, so that a mix-up is one problem instead of one on every line."""

import re
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from annotator.errors import Problems
from annotator.evaluation.formats.record_layouts import has_label_heading, has_run_heading
from annotator.evaluation.formats.table_lines import data_lines, first_line_of, is_json

COLUMNS = 6

TOPIC, DOCNO, RANK, SCORE, TAG = 0, 2, 3, 4, 5  # column indices

DECIMAL_NUMBER = re.compile(rb"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


QRELS_COLUMNS = 4
SAMPLED_COLUMNS = 5  # with a stratum before the grade
ITERATION = 1  # column index
LEAST_LINES = 2  # number of lines that must have a separator
MARKUP = re.compile(rb"<(?:[!?]|/?[a-z][a-z0-9]*\b[^<>]*>)", re.IGNORECASE)
# Stored as int16, which holds every number of four digits.
WHOLE_GRADE = re.compile(rb"[+-]?[0-9]{1,4}")


def note_no_qrels(name: str, text: bytes, problems: Problems) -> bool:
    """Note that a file expected to be qrels is a run, JSON, markup or comma-separated as a whole; False otherwise."""
    if _every_line(text, _is_of_run):
        problems.add(
            name,
            None,
            "This is a run, not qrels: every line has six columns, the fifth a score. "
            "Where both are asked for, the qrels come first.",
        )
        return True
    if has_run_heading(text):
        problems.add(
            name,
            None,
            "This is the table of a run, not qrels: its heading has a rank or score and no grade. "
            "Where both are asked for, the qrels come first.",
        )
        return True
    return _note_other(name, text, problems, {QRELS_COLUMNS, SAMPLED_COLUMNS}, "qid,docno,grade")


def note_no_run(name: str, text: bytes, problems: Problems) -> bool:
    """Note that a file expected to be a run is qrels, JSON, markup or comma-separated as a whole; False otherwise."""
    if _every_line(text, _is_of_qrels):
        problems.add(
            name,
            None,
            "This is a file of qrels, not a run: every line has four columns, or five of a sample, the last a grade. "
            "Where both are asked for, the qrels come first.",
        )
        return True
    if has_label_heading(text):
        problems.add(
            name,
            None,
            "This is a table of qrels, not a run: its heading has a grade. "
            "Where both are asked for, the qrels come first.",
        )
        return True
    return _note_other(name, text, problems, {COLUMNS}, "qid,docno,score")


def note_separator(name: str, text: bytes, problems: Problems) -> bool:
    """Note that the columns of a tab-separated file are separated by something else; False when it has a tab."""
    if b"\t" in text:
        return False
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < LEAST_LINES or not all(b"," in line or b";" in line for line in lines):
        return False
    problems.add(name, None, "The columns are separated by commas or semicolons; they must be separated by tabs.")
    return True


def _note_other(name: str, text: bytes, problems: Problems, columns: AbstractSet[int], heading: str) -> bool:
    """Note that a file is JSON, markup or comma-separated as a whole; False otherwise.

    `columns` are the numbers of columns that it should have, `heading` is one with which a table would be read.
    """
    first = first_line_of(text)
    if is_json(first):
        problems.add(name, None, "The file is JSON; its columns must be separated by blanks or tabs.")
    elif MARKUP.match(first):
        problems.add(name, None, "The file is XML, HTML or SGML; its columns must be separated by blanks or tabs.")
    elif len(first.split()) not in columns and (separator := _separator_of(text)):
        problems.add(
            name,
            None,
            "The columns are separated by “%(separator)s”. Name them in the first line, as in %(heading)s, or separate "
            "them by blanks or tabs.",
            separator=separator,
            heading=heading.replace(",", separator),
        )
    else:
        return False
    return True


def _separator_of(text: bytes) -> str | None:
    """A comma or semicolon that every line has."""
    if _every_line(text, lambda words: any(b"," in word for word in words)):
        return ","
    return ";" if _every_line(text, lambda words: any(b";" in word for word in words)) else None


def _is_of_run(words: list[bytes]) -> bool:
    return len(words) == COLUMNS and DECIMAL_NUMBER.fullmatch(words[SCORE]) is not None


def _is_of_qrels(words: list[bytes]) -> bool:
    """Whether a line has an iteration and a grade; an incomplete run has Q0 or a document there, or a score."""
    return (
        len(words) in {QRELS_COLUMNS, SAMPLED_COLUMNS}
        and DECIMAL_NUMBER.fullmatch(words[ITERATION]) is not None
        and WHOLE_GRADE.fullmatch(words[-1]) is not None
    )


def _every_line(text: bytes, fits: Callable[[list[bytes]], bool]) -> bool:
    """Whether there is a line of data and all of them fit; stops at the first that does not."""
    others = Problems()
    lines = 0
    for lines, (_, words) in enumerate(data_lines("", text, others), start=1):  # noqa: B007 - their number is wanted
        if not fits(words):
            return False
    return lines > 0 and not others.total


TOPIC_NAMES = frozenset({"topic", "topic_id", "topicid", "topic_number", "qid", "query_id", "queryid", "number", "num"})
DOCUMENT_NAMES = frozenset(
    {"docno", "docid", "doc_id", "doc", "document", "document_id", "corpus_id", "pid", "passage_id", "did", "_id"}
)
TITLE_NAMES = frozenset({"title", "query", "query_text", "text", "question", "topic", "name"})
BODY_NAMES = frozenset(
    {"text", "body", "contents", "content", "passage", "document", "doc", "doc_text", "passage_text"}
)
ID_NAMES = frozenset({"id"})

# For each kind of file, names of its first column and of all others.
TOPIC_COLUMNS = (TOPIC_NAMES | ID_NAMES, TITLE_NAMES | {"description", "desc", "narrative", "narr"})
DOCUMENT_COLUMNS = (DOCUMENT_NAMES | ID_NAMES, BODY_NAMES | {"title", "url"})
RUN_COLUMNS = (
    TOPIC_NAMES | {"query"},
    DOCUMENT_NAMES
    | {"q0", "iter", "iteration", "rank", "score", "sim", "similarity", "tag", "run_tag", "runtag", "run", "run_id"}
    | {"runid", "system", "run_name", "unused", "zero"},
)
QRELS_HEADINGS = (
    TOPIC_NAMES | {"query"},
    DOCUMENT_NAMES
    | {
        "q0",
        "iter",
        "iteration",
        "unused",
        "zero",
        "stratum",
        "grade",
        "relevance",
        "rel",
        "label",
        "score",
        "judgment",
    }
    | {"judgement", "qrel", "explanation", "rating"},
)

Columns = tuple[frozenset[str], frozenset[str]]


def is_heading(words: Sequence[str], columns: Columns) -> bool:
    """Whether the words of a first line are column names: two or more, each known and unique."""
    names = [word.strip(" \"'").casefold().replace("-", "_").replace(" ", "_") for word in words]
    firsts, others = columns
    return (
        len(names) > 1
        and len(set(names)) == len(names)
        and names[0] in firsts
        and all(name in others for name in names[1:])
    )


def note_heading(problems: Problems, name: str, line: int, words: Sequence[str]) -> None:
    """Note that a line is a heading."""
    problems.add(
        name,
        line,
        "The line is a heading (%(heading)s), not data. Remove it.",
        heading=", ".join(words),
    )


def lines_below_heading(
    name: str, text: bytes, problems: Problems, columns: Columns
) -> Iterator[tuple[int, list[bytes]]]:
    """Yield number and columns of each line of data as `data_lines` does; a heading is noted and left out."""
    is_first = True
    for line, words in data_lines(name, text, problems):
        if is_first and is_heading(decoded := [word.decode() for word in words], columns):
            note_heading(problems, name, line, decoded)
        else:
            yield line, words
        is_first = False
