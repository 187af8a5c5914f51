"""Zip archives: their files by name, without what archivers add, and within a limit."""

import io
import struct
import tracemalloc
import zipfile

import pytest

from annotator.errors import Problems
from annotator.evaluation.formats.zip_archives import is_zip, unzip
from annotator.files import InputFile
from annotator.packing import unpacked_size

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
    # The bytes have the time: as names they would differ between the processes that share the tests.
    ids=["too large", "cut off", "empty"],
)
def test_what_cannot_be_read_is_noted(content: bytes, expected: str) -> None:
    problems = Problems()
    assert unzip(InputFile("all.zip", content), [], problems, LIMIT) == []
    assert expected in str(problems.by_file()[0])


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_no_more_is_unpacked_than_the_stated_size(method: int) -> None:
    content, size = io.BytesIO(), 20_000_000
    with zipfile.ZipFile(content, "w", method) as archive:
        archive.writestr("a", b"x" * size)
    forged = content.getvalue().replace(struct.pack("<I", size), struct.pack("<I", 10))
    problems = Problems()
    tracemalloc.start()
    assert unzip(InputFile("all.zip", forged), [], problems, LIMIT) == []
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert problems.total == 1
    assert most < 1_000_000


def zip_of_the_future() -> bytes:
    content = zipped(a="1")
    version = content.index(b"PK\1\2") + 6
    return content[:version] + struct.pack("<H", 99) + content[version + 2 :]


def zip_with_a_broken_name() -> bytes:
    content = bytearray(zipped(a="1"))
    entry = content.index(b"PK\1\2")
    content[entry + 9] |= 8  # the name is in UTF-8
    content[entry + 46] = 0xFF
    return bytes(content)


@pytest.mark.parametrize("content", [zip_of_the_future(), zip_with_a_broken_name()])
def test_an_archive_that_python_cannot_read_is_refused_and_has_no_size(content: bytes) -> None:
    problems = Problems()
    assert unpacked_size(io.BytesIO(content), LIMIT) == 0
    assert unzip(InputFile("all.zip", content), [], problems, LIMIT) == []
    assert problems.total == 1


def test_an_office_document_is_no_archive() -> None:
    assert is_zip(zipped(a="1"))
    assert not is_zip(zipped(**{"xl/workbook.xml": "1"}))
    assert not is_zip(b"1 Q0 a 1 9 tag\n")
