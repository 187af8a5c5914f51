"""Lists of valid docnos: read, packed, and compared with what runs return; the oracle is a set of text."""

import bz2
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import examples

from annotator.errors import FileRefusedError, InvalidValueError, Problems
from annotator.evaluation.runs import docno_lists
from annotator.evaluation.runs.docno_lists import ReadDocnos, are_listed, check_part, lines_of, read_docnos
from annotator.evaluation.runs.docno_numbers import DocnoNumbers
from annotator.evaluation.runs.numbered_runs import read_numbered_run
from annotator.evaluation.runs.run_intake import DocumentIds
from annotator.files import InputFile

LIMIT = 1 << 20
# Short ones, which are compared by their hash, long ones, and those that only the careful reader takes.
DOCNOS = st.sampled_from(
    ["a", "b", "#a", "문서", "ü", "clueweb22-en0000-00-00001", "clueweb22-en0000-00-00002", "x" * 256]
)
DAMAGED = "A part of the list of docnos is damaged"


def read(*texts: str) -> ReadDocnos:
    files = [InputFile(f"{number}.txt", text.encode()) for number, text in enumerate(texts)]
    return read_docnos(files, unpacked_limit=LIMIT)


def docnos_of(found: ReadDocnos) -> list[str]:
    return b"".join(map(lines_of, found.packed_lines)).decode().split("\n")[:-1]


@settings(max_examples=examples(200))
@given(st.lists(st.lists(DOCNOS, min_size=1), min_size=1, max_size=3), st.lists(DOCNOS, min_size=1, unique=True))
def test_a_list_has_what_its_files_have_and_nothing_else(lists: list[list[str]], asked: list[str]) -> None:
    found = read(*("\n".join(one) + "\n" for one in lists))
    every = [docno for one in lists for docno in one]
    assert docnos_of(found) == list(dict.fromkeys(every))
    assert (found.count, found.repeated) == (len(set(every)), len(every) - len(set(every)))
    for part in found.parts:
        check_part(part.count, part.lines)
    numbers = DocnoNumbers()
    text = "".join(f"1 Q0 {docno} 1 {-score} t\n" for score, docno in enumerate(asked))
    assert read_numbered_run("r", text.encode(), Problems(), numbers, topics=["1"], tag=None) is not None
    is_known = dict(zip(asked, are_listed(numbers, found.packed_lines)[numbers.find(asked)].tolist(), strict=True))
    assert is_known == {docno: docno in every for docno in asked}


def test_lists_of_several_parts_and_chunks_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docno_lists, "DOCNOS_OF_A_PART", 3)
    monkeypatch.setattr(docno_lists, "CHUNK_BYTES", 8)
    every = [f"d{number}" for number in range(10)]
    found = read("docno\n" + "\n".join([*every, "#1", *every]))
    assert [part.count for part in found.parts] == [3, 3, 3, 2]
    assert docnos_of(found) == [*every, "#1"]
    assert found.repeated == 10


def test_each_problem_is_named_with_its_line_and_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docno_lists, "CHUNK_BYTES", 8)
    long = "x" * 257
    with pytest.raises(FileRefusedError) as refused:
        read(f"docno\nd1\nd2\nd 3\n{long}\nd4\u3000\nd\u30005\n", " \n\n")
    assert [str(problem) for problem in refused.value.problems] == [
        "0.txt:4: The document id 'd 3' has blanks or control characters inside; it must be one word.",
        "0.txt:5: The document id is longer than 256 bytes. Shorten it.",
        "0.txt:7: The document id 'd\\u30005' has blanks or control characters inside; it must be one word.",
        "1.txt: The file has no docno.",
    ]


def test_a_file_may_be_compressed_and_of_a_named_format() -> None:
    packed = InputFile("d.bz2", bz2.compress(b'{"_id": "d7"}\n'))
    assert docnos_of(read_docnos([packed], unpacked_limit=LIMIT)) == ["d7"]
    named = InputFile("d", b"<d7>\n", "lines")
    assert docnos_of(read_docnos([named], unpacked_limit=LIMIT)) == ["<d7>"]


def test_documents_outside_the_list_are_told_by_docno_line_and_topic() -> None:
    numbers = DocnoNumbers()
    text = "2 Q0 x 1 9 t\n2 Q0 a 2 8 t\n10 Q0 y 1 7 t\n10 Q0 x 2 9 t\n1 Q0 a 1 5 t\n"
    run = read_numbered_run("a.run", text.encode(), Problems(), numbers, topics=["1", "2", "10"], tag=None)
    assert run is not None
    ids = DocumentIds(numbers, corpus_is_loaded=True, list_parts=read("a\nb\n").packed_lines)
    [told] = ids.warnings_of(run)
    assert str(told) == (
        "Docnos that are not in the list of valid docnos: 2 (x, y); lines with them: 3; first lines: 1, 3, 4; topics "
        "with them: 2; lines by topic: 2: 1, 10: 2."
    )
    every = DocumentIds(numbers, corpus_is_loaded=True, list_parts=read("y\na\nx\n").packed_lines)
    assert every.warnings_of(run) == []


def test_of_many_the_first_are_named() -> None:
    numbers = DocnoNumbers()
    text = "".join(f"{number} Q0 d{number} 1 9 t\n" for number in range(9, 0, -1))
    topics = [str(number) for number in range(10)]
    run = read_numbered_run("a.run", text.encode(), Problems(), numbers, topics=topics, tag=None)
    assert run is not None
    [told] = DocumentIds(numbers, corpus_is_loaded=False, list_parts=[]).warnings_of(run)
    assert "9 (d9, d8, d7, d6, d5, …); lines with them: 9; first lines: 1, 2, 3, 4, 5, …;" in str(told)
    assert "topics with them: 9; lines by topic: 1: 1, 2: 1, 3: 1, 4: 1, 5: 1, …." in str(told)


@pytest.mark.parametrize(
    ("count", "part"),
    [
        (1, b"no zlib"),
        (1, zlib.compress(b"a\n")[:-1]),
        (2, zlib.compress(b"a\n")),
        (1, zlib.compress(b"a")),
        (0, zlib.compress(b"")),
        (2, zlib.compress(b"a\n\n")),
        (1, zlib.compress(b"a b\n")),
        (1, zlib.compress(b"\xff\n")),
        (1, zlib.compress(b"x" * 257 + b"\n")),
        (1, zlib.compress(b"x" * (docno_lists.LONGEST_PART + 1) + b"\n")),
    ],
)
def test_a_part_that_came_from_elsewhere_and_is_damaged_is_refused(count: int, part: bytes) -> None:
    with pytest.raises(InvalidValueError, match=DAMAGED):
        check_part(count, part)
