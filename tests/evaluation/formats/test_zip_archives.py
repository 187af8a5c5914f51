"""Zip archives: their files by name, without what archivers add, and within a limit."""

import io
import zipfile

import pytest

from annotator.errors import Problems
from annotator.evaluation.formats.zip_archives import is_zip, unzip
from annotator.files import InputFile, unpacked_size

LIMIT = 1_000


def zipped(**files: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


def test_files_have_their_own_names_and_folders_only_where_two_are_alike() -> None:
    content = zipped(**{"one/a": "1", "two/a": "2", "b": "3", "__MACOSX/a": "x", ".DS_Store": "x"})
    problems = Problems()
    files = unzip(InputFile("all.zip", content), ["b"], problems, LIMIT)
    assert [(file.name, file.content) for file in files] == [("a", b"1"), ("all.zip/two/a", b"2"), ("all.zip/b", b"3")]
    assert problems.total == 0
    assert unpacked_size(io.BytesIO(content), LIMIT) == 5


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (zipped(a="x" * (LIMIT + 1)), "more than 1000 bytes unpacked"),
        (zipped(a="x" * 100)[:-30], "damaged, encrypted"),
        (zipped(), "has no files"),
    ],
)
def test_what_cannot_be_read_is_noted(content: bytes, expected: str) -> None:
    problems = Problems()
    assert unzip(InputFile("all.zip", content), [], problems, LIMIT) == []
    assert expected in str(problems.by_file()[0])


def test_an_office_document_is_no_archive() -> None:
    assert is_zip(zipped(a="1"))
    assert not is_zip(zipped(**{"xl/workbook.xml": "1"}))
    assert not is_zip(b"1 Q0 a 1 9 tag\n")
