"""Result lists of search systems as tables (query, document, rank or score), turned into run files."""

import re
from collections.abc import Iterable, Mapping, Sequence

from annotator.errors import Problems
from annotator.evaluation.formats.csv_tables import LONGEST_HEADING, is_table, table_rows
from annotator.evaluation.formats.foreign_rows import query_key
from annotator.evaluation.formats.identifiers import is_one_word
from annotator.evaluation.formats.unpacking import unpack_into
from annotator.evaluation.runs.run_intake import tag_of
from annotator.files import InputFile

TOPIC, DOCUMENT, RANK, SCORE = "topic", "document", "rank", "score"
COLUMNS = {
    TOPIC: {"query", "topic", "query_id", "qid", "topic_id", "query_text", "number", "num"},
    DOCUMENT: {"document", "doc", "docno", "docid", "doc_id", "document_id", "id", "url", "product_id", "item"},
    RANK: {"rank", "position", "pos"},
    SCORE: {"score", "sim", "similarity"},
}
NOT_IN_A_TAG = re.compile(r"\s+")


def is_result_list(text: bytes) -> bool:
    """Whether a file is such a table; `text` is what `unpack` returns."""
    return is_table(text, COLUMNS, required=(TOPIC, DOCUMENT))


def as_run_files(
    files: Sequence[InputFile], topics: Iterable[tuple[str, str]], problems: Problems, *, unpacked_limit: int
) -> list[InputFile]:
    """The files, result lists turned into runs; `topics` are numbers and titles. Notes rows that fit no topic.

    A file whose format is named is left as it is.
    """
    found, titles = list[InputFile](), dict[str, str]()
    for number, title in topics:
        titles.setdefault(query_key(title), number)
        titles[number] = number
    for file in files:
        head = file.content[:LONGEST_HEADING]
        may_be_list = file.input_format is None and (b"," in head or b";" in head)
        text = unpack_into(problems, file.name, file.content, unpacked_limit) if may_be_list else None
        if text is not None and is_result_list(text):
            found.append(InputFile(file.name, as_run(file.name, text, titles, problems)))
        else:
            found.append(file)
    return found


def as_run(name: str, text: bytes, titles: Mapping[str, str], problems: Problems) -> bytes:
    """The lines of the run, on the same lines as in the table; notes rows that cannot be one.

    `titles` maps the numbers and the queries (see `query_key`) of topics to their numbers. The tag is the name of the
    file. Without scores, documents are ordered by rank, and without ranks by the order of the rows.
    """
    tag = NOT_IN_A_TAG.sub("_", tag_of(name.removesuffix(".csv")))
    lines: dict[int, str] = {}
    unknown: set[str] = set()
    counts: dict[str, int] = {}
    for line, row in table_rows(name, text, COLUMNS, problems):
        number = titles.get(row[TOPIC]) or titles.get(query_key(row[TOPIC]))
        if number is None:
            if row[TOPIC] not in unknown:
                problems.add(name, line, "There is no topic with the query “%(query)s”.", query=row[TOPIC])
            unknown.add(row[TOPIC])
        elif not row[DOCUMENT] or not is_one_word(row[DOCUMENT]):
            problems.add(name, line, "“%(document)s” is no document id: it must be one word.", document=row[DOCUMENT])
        else:
            counts[number] = counts.get(number, 0) + 1
            rank = row[RANK] or str(counts[number])
            score = row[SCORE] or f"-{rank}"
            lines[line] = f"{number} Q0 {row[DOCUMENT]} {rank} {score} {tag}"
    return "\n".join(lines.get(line, "") for line in range(1, max(lines, default=0) + 1)).encode() + b"\n"
