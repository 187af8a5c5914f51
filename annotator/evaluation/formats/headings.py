"""Recognises a first line that names the columns, in the formats that have no such line: it must not become data."""

from collections.abc import Iterator, Sequence

from annotator.errors import Problems
from annotator.evaluation.formats.table_lines import data_lines

TOPIC_NAMES = frozenset({"topic", "topic_id", "topicid", "topic_number", "qid", "query_id", "queryid", "number", "num"})
DOCUMENT_NAMES = frozenset(
    {"docno", "docid", "doc_id", "doc", "document", "document_id", "corpus_id", "pid", "passage_id", "did", "_id"}
)
TITLE_NAMES = frozenset({"title", "query", "query_text", "text", "question", "topic", "name"})
BODY_NAMES = frozenset(
    {"text", "body", "contents", "content", "passage", "document", "doc", "doc_text", "passage_text"}
)
ID_NAMES = frozenset({"id"})

# Of each kind of file, what its columns can be called: those of the first, and those of all others.
TOPIC_COLUMNS = (TOPIC_NAMES | ID_NAMES, TITLE_NAMES | {"description", "desc", "narrative", "narr"})
DOCUMENT_COLUMNS = (DOCUMENT_NAMES | ID_NAMES, BODY_NAMES | {"title", "url"})
RUN_COLUMNS = (
    TOPIC_NAMES | {"query"},
    DOCUMENT_NAMES
    | {"q0", "iter", "iteration", "rank", "score", "sim", "similarity", "tag", "run_tag", "runtag", "run", "run_id"}
    | {"runid", "system", "run_name", "unused", "zero"},
)
QRELS_COLUMNS = (
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
    """Whether these words of a first line can only be the names of columns: two or more, each a known one and once."""
    names = [word.strip(" \"'").casefold().replace("-", "_").replace(" ", "_") for word in words]
    firsts, others = columns
    return (
        len(names) > 1
        and len(set(names)) == len(names)
        and names[0] in firsts
        and all(name in others for name in names[1:])
    )


def note_heading(problems: Problems, name: str, line: int, words: Sequence[str]) -> None:
    """Note that a line names the columns."""
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
