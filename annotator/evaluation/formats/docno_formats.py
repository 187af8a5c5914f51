"""Lists of docnos as files: one docno a line, or the docnos of a file of documents in any of its formats."""

import io
from collections.abc import Iterator
from dataclasses import replace

from annotator.errors import Problems
from annotator.evaluation.formats.csv_tables import is_table, table_rows
from annotator.evaluation.formats.document_formats import DOCUMENT_FORMATS, KEYS, TABLE, sgml_documents
from annotator.evaluation.formats.input_formats import Format, Holds, always
from annotator.evaluation.formats.table_lines import first_line_of, identifier_of, json_objects

# Line (from 1) and docno, which is not validated.
Docnos = Iterator[tuple[int, str]]

DOCNO_COLUMN = {"docno": TABLE["docno"]}
DOCNOS_TEST = "tests/evaluation/formats/test_docno_formats.py"
PLAIN = "lines"


def end_of_heading(text: bytes) -> int:
    """Where a list begins: behind a first line that names a column of docnos, as tables of one column have it."""
    heading, newline, _ = text.partition(b"\n")
    is_heading = heading.strip().strip(b'"').lower().decode(errors="replace") in TABLE["docno"]
    return len(heading + newline) if is_heading else 0


def docno_lines(text: bytes, begin: int, end: int) -> Docnos:
    """Yield the docnos of a part of a list that begins and ends between lines."""
    first_line = text.count(b"\n", 0, begin) + 1
    for line, content in enumerate(io.BytesIO(text[begin:end]), start=first_line):
        if docno := content.decode().strip():
            yield line, docno


def _listed_docnos(_name: str, text: bytes, _problems: Problems) -> Docnos:
    return docno_lines(text, end_of_heading(text), len(text))


def _sgml_docnos(name: str, text: bytes, problems: Problems) -> Docnos:
    for document in sgml_documents(name, text, problems):
        yield document.line, document.docno


def _json_docnos(name: str, text: bytes, problems: Problems) -> Docnos:
    for line, record in json_objects(name, text, problems):
        before = problems.total
        docno = identifier_of(name, line, record, KEYS["docno"], problems)
        if problems.total == before:
            yield line, docno or ""


def _table_docnos(name: str, text: bytes, problems: Problems) -> Docnos:
    for line, row in table_rows(name, text, DOCNO_COLUMN, problems):
        yield line, row["docno"]


def _tab_separated_docnos(_name: str, text: bytes, _problems: Problems) -> Docnos:
    for line, content in enumerate(io.BytesIO(text), start=1):
        if content.strip():
            yield line, content.partition(b"\t")[0].decode().strip()


OF_DOCUMENTS = {one.name: replace(one, holds=Holds.DOCNOS, test=DOCNOS_TEST) for one in DOCUMENT_FORMATS}
DOCNO_FORMATS = (
    replace(OF_DOCUMENTS["trec-sgml"], about="The docnos of documents in TREC's SGML.", read=_sgml_docnos),
    replace(
        OF_DOCUMENTS["jsonl"],
        about="The docnos of documents in JSON Lines or one list; no other key is needed.",
        example='{"_id": "d7"}\n',
        read=_json_docnos,
    ),
    replace(
        OF_DOCUMENTS["csv"],
        title="table with docnos",
        about="A table with a heading that names a column of docnos beside others.",
        fits=lambda head: is_table(head, DOCNO_COLUMN, required=("docno",)),
        read=_table_docnos,
    ),
    replace(OF_DOCUMENTS["parquet"], about="A column of docnos. Needs the extra `parquet`.", read=_json_docnos),
    replace(
        OF_DOCUMENTS["tsv"],
        about="The first column of documents separated by tabs.",
        fits=lambda head: b"\t" in first_line_of(head),
        read=_tab_separated_docnos,
    ),
    Format(
        PLAIN,
        Holds.DOCNOS,
        "list of docnos",
        "One docno a line; the first line may be a heading, such as `docno`.",
        "d7\nd8\n",
        always,
        _listed_docnos,
        DOCNOS_TEST,
        "documents ids export",
    ),
)
