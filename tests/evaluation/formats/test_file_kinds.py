"""Files that are something else: named for what they are, and headings that must not become data."""

import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from annotator.clicks.evaluation.logs.log_sources import chunks_of_log
from annotator.errors import FileRefusedError, Problems
from annotator.evaluation.archives.bundle_format import open_bundle
from annotator.evaluation.formats.document_formats import parse_documents
from annotator.evaluation.formats.qualifying_format import parse_qualifying
from annotator.evaluation.formats.topic_formats import parse_topics
from annotator.evaluation.formats.unpacking import unpack_into
from annotator.evaluation.qrels.gold_question_files import readable_known_grades
from annotator.evaluation.qrels.qrels_format import parse_qrels, readable_rows
from annotator.evaluation.runs.run_format import first_tag_of, parse_run

RUN = "1 Q0 a 1 2.5 t\n"


def zipped(*parts: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for part in parts:
            archive.writestr(part, RUN)
    return content.getvalue()


def tarred() -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.run"))
    return content.getvalue()


OTHERS = [
    (zipped("a.run"), "a zip archive"),
    (zipped("[Content_Types].xml", "xl/workbook.xml"), "an Excel workbook"),
    (zipped("word/document.xml"), "a Word document"),
    (tarred(), "a tar archive"),
    (lzma.compress(RUN.encode(), lzma.FORMAT_ALONE), "compressed with lzma"),
    (b"\x04\x22\x4d\x18rest", "compressed with LZ4"),
    (b"%PDF-1.7\n%rest", "a PDF document"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1rest", "an old Word or Excel file"),
    (b"PAR1\x15\x04rest", "a Parquet file"),
    (b"7z\xbc\xaf\x27\x1crest", "a 7-Zip archive"),
    (b"\n<!DOCTYPE html>\n<html><title>Sign in</title></html>\n", "a web page (HTML)"),
    (RUN.encode("utf-16"), "text in UTF-16"),
    (RUN.encode("utf-16-be"), "text in UTF-16"),
    (RUN.encode("utf-32"), "text in UTF-32"),
    (RUN.encode("utf-32-le"), "text in UTF-32"),
]


@pytest.mark.parametrize(("content", "kind"), OTHERS, ids=[kind for _, kind in OTHERS])
def test_what_is_no_text_is_named_for_what_it_is(content: bytes, kind: str) -> None:
    for packed in (content, gzip.compress(content, mtime=0)):
        read, streamed = Problems(), Problems()
        assert unpack_into(read, "f", packed) is None
        assert list(chunks_of_log(("f", packed), streamed, lambda _: None)) == []
        assert f"The file is {kind}" in str(read.by_file()[0])
        assert read.by_file() == streamed.by_file()
        assert read.total == 1


def test_gzip_in_gzip_is_named() -> None:
    problems = Problems()
    assert unpack_into(problems, "f", gzip.compress(gzip.compress(RUN.encode()))) is None
    assert str(problems.by_file()[0]) == "f: The file is compressed with gzip twice. Compress it once."


@pytest.mark.parametrize("text", ["BZh9 Q0 a 1 1 t\n", "PAR1 Q0 a 1 1 t\n", "PK Q0 a 1 1 t\n", "7z Q0 a 1 1 t\n"])
def test_text_that_begins_like_another_kind_is_read(text: str) -> None:
    problems = Problems()
    assert unpack_into(problems, "f", text.encode()) == text.encode()
    assert problems.total == 0


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (gzip.compress(b"x", mtime=0), "the file is compressed with gzip"),
        (b"%PDF-1.7", "the file is a PDF document"),
        (zipped("xl/workbook.xml"), "but an Excel workbook without a manifest"),
        (zipped("a"), "but a zip archive without a manifest"),
    ],
)
def test_what_is_no_archive_of_a_collection_is_named(content: bytes, sentence: str) -> None:
    with pytest.raises(FileRefusedError) as refused, open_bundle("f", io.BytesIO(content), limit=1 << 20):
        pass
    assert sentence in str(refused.value.problems[0])


def known(name: str, text: bytes, problems: Problems) -> object:
    return readable_known_grades(name, text, problems, scale=[0, 1])


def labels(name: str, text: bytes, problems: Problems) -> object:
    return readable_rows(name, text, problems, takes_labels=True)


@pytest.mark.parametrize(
    ("read", "heading", "line"),
    [
        (parse_run, "qid Q0 docno rank score tag\n", RUN),
        (parse_run, "# a comment\nquery_id Q0 doc_id rank score run_id\n", RUN),
        (parse_qrels, "topic iteration docno grade\n", "1 0 a 1\n"),
        (labels, "topic iteration docno label\n", "1 0 a 1\n"),
        (known, "topic docno grade\n", "1 a 1\n"),
        (parse_qualifying, "topic\tdocno\tgrade\texplanation\n", "1\ta\t1\twhy\n"),
    ],
)
def test_a_heading_is_named_and_is_no_data(read: Callable[..., Any], heading: str, line: str) -> None:
    problems = Problems()
    read("f", (heading + line).encode(), problems)
    [problem] = problems.by_file()
    assert problem.line == heading.count("\n")
    assert "The line is a heading (" in str(problem)
    without = Problems()
    assert read("f", line.encode(), without)
    assert without.total == 0


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (parse_topics, "id\tcards and passports\n"),
        (parse_topics, "query\tthe title of a book\n"),
        (parse_topics, "7\ttitle\n"),
        (parse_topics, "1\tcats\nqid\tquery\n"),  # not the first line
        (parse_documents, "document\tA text of its own.\n"),
        (parse_documents, "d1\ttext\n"),
        (parse_run, "topic Q0 docno 1 2.5 tag\n"),
        (parse_qrels, "topic 0 docno 1\n"),
    ],
)
def test_data_with_words_of_headings_are_data(read: Callable[..., Any], text: str) -> None:
    problems = Problems()
    assert read("f", text.encode(), problems) is not None
    assert problems.total == 0


def test_the_tag_of_a_heading_is_no_tag() -> None:
    assert first_tag_of(b"qid Q0 docno rank score tag\n1 Q0 a 1 2 t\n") == (1, "")


@pytest.mark.parametrize(
    ("read", "text", "sentence"),
    [
        (parse_qrels, '<?xml version="1.0"?>\n<a/>', "The file is XML, HTML or SGML"),
        (parse_run, "1,Q0,a,1,2.5,t\n", "separated by “,”. Name them in the first line, as in qid,docno,score"),
        (parse_run, "1;Q0;a;1;2.5;t\n", "separated by “;”. Name them in the first line, as in qid;docno;score"),
        (parse_run, "qid,query\n1,a cat and a dog here\n", "separated by “,”"),
        (parse_qrels, "qid,query\n1,two cats and dogs\n", "as in qid,docno,grade"),
        (parse_run, "query,docid,rating\n1,a,2\n", "This is a table of qrels, not a run"),
        (parse_run, "query-id\tcorpus-id\tscore\n1\ta\t2\n", "This is a table of qrels, not a run"),
        (parse_qrels, "qid,docno,rank,score\n1,a,1,2\n", "This is the table of a run, not qrels"),
        (parse_topics, "1,cats\n2,dogs\n", "separated by commas or semicolons"),
        (parse_documents, "d1,cats\nd2,dogs\n", "separated by commas or semicolons"),
    ],
)
def test_another_format_is_one_problem_of_the_whole_file(read: Callable[..., Any], text: str, sentence: str) -> None:
    problems = Problems()
    read("f", text.encode(), problems)
    [problem] = problems.by_file()
    assert problem.line is None
    assert sentence in str(problem)


def test_one_column_is_singular() -> None:
    problems = Problems()
    parse_run("f", b"a\nb c\n", problems)
    one, two = map(str, problems.by_file())
    assert one == "f:1: The line has one column; a run has six: topic, Q0, document, rank, score, tag."
    assert two == "f:2: The line has 2 columns; a run has six: topic, Q0, document, rank, score, tag."
