"""A machine's labels read by columns: what line by line gives, and what is refused line by line."""

import gzip

import numpy as np
import pytest

from annotator.errors import Problems
from annotator.evaluation.formats.table_stream import CHUNK_BYTES
from annotator.evaluation.qrels import label_columns
from annotator.evaluation.qrels.label_columns import (
    NO_GRADE,
    LabelFileColumns,
    columns_of_rows,
    packed_topic,
    read_labels,
)
from annotator.evaluation.qrels.machine_labels import unpack_labels
from annotator.evaluation.qrels.qrels_format import QrelsRow
from annotator.files import InputFile

LIMIT = 1 << 24
TREC = "1 0 a 2\n1 0 b 0\n1 0 c N/A\n# a comment\n\n2 0 a +1\n2 0 d -1\n2 0 longer-than-eight 7\n1 0 e 02\n"
JUDGE = "1 Q0 a 2 0.5 m\n1 Q0 b 0 - m\n1 Q0 c no .25 m\n2 Q0 a 2.0 1 m\n2 Q0 d -1 0 m\n1 Q0 e 0 0 m\n"


def read(
    text: str | bytes, *, topics: tuple[str, ...] = ("1", "2"), limit: int = LIMIT, input_format: str | None = None
) -> tuple[LabelFileColumns | None, list[str]]:
    problems = Problems()
    content = text if isinstance(text, bytes) else text.encode()
    file = InputFile("m.txt", content, input_format)
    made = read_labels(file, problems, topics=topics, drafts=("5",), grades=range(3), unpacked_limit=limit)
    return made, list(map(str, problems.first))


def as_rows(made: LabelFileColumns) -> dict[tuple[str, str], tuple[int, float | None]]:
    """Topic and docno → grade, and the confidence."""
    return {
        (one.topic, docno): (grade, None if one.confidences is None else float(one.confidences[place]))
        for one in made.of_topics()
        for place, (docno, grade) in enumerate(
            zip(made.documents.docnos_of(one.documents), one.grades.tolist(), strict=True)
        )
    }


@pytest.mark.parametrize("packed", [False, True])
def test_qrels_are_read_with_labels_that_are_no_grades(packed: bool) -> None:  # noqa: FBT001 - a case
    made, problems = read(gzip.compress(TREC.encode()) if packed else TREC)
    assert problems == []
    assert made is not None
    assert (made.count, made.unjudged, made.grades()) == (6, 1, [0, 1, 2])
    assert as_rows(made) == {
        ("1", "a"): (2, None), ("1", "b"): (0, None), ("1", "c"): (NO_GRADE, None), ("2", "a"): (1, None),
        ("2", "longer-than-eight"): (NO_GRADE, None), ("1", "e"): (2, None),
    }  # fmt: skip
    assert [(row.topic, row.docno, row.line, row.label) for row in made.outside] == [
        ("1", "c", 3, "N/A"),
        ("2", "longer-than-eight", 8, "7"),
    ]


def test_confidences_are_read_beside_the_grades() -> None:
    made, problems = read(JUDGE)
    assert problems == []
    assert made is not None
    rows = as_rows(made)
    assert (rows["1", "a"], rows["1", "c"], rows["2", "a"]) == ((2, 0.5), (NO_GRADE, 0.25), (2, 1))
    assert np.isnan(rows["1", "b"][1] or 0)
    assert made.unjudged == 1
    first, second = made.of_topics()
    packed = packed_topic(first, np.array([10, 20, 30, 40], np.int32))
    labels = unpack_labels([packed])
    assert labels.document_ids.tolist() == [10, 20, 40]
    assert labels.outside == {30: "no"}
    assert second.documents.size == 1


def test_many_chunks_are_one_file() -> None:
    count = CHUNK_BYTES // 12
    text = "".join(
        f"{1 + number % 2} 0 d{number} {'x' if number == count - 1 else number % 3}\n" for number in range(count)
    )
    made, problems = read(text)
    assert problems == []
    assert made is not None
    assert made.count == count
    assert [row.line for row in made.outside] == [count]
    assert as_rows(made)["2", "d1"] == (1, None)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1 0 a 1\n1 0 a 2\n", "m.txt:2: Document a of topic 1 is graded twice; it is on line 1 already."),
        ("1 0 a 1\n9 0 a 2\n", "m.txt:2: The collection has no topic 9."),
        ("1 0 a 1\n5 0 a 2\n", "m.txt:2: Topic 5 is a draft: accept it before its labels come in."),
        ("1 0 a 1\n1 0 b\n", "m.txt:2: The line has 3 columns; qrels have four: topic, iteration, document, grade."),
        ("", "m.txt: The file is empty."),
        ("# nothing\n", "m.txt: The file has no line of data."),
        ("1 0 a 1\n1 0 b \x01\n", "m.txt:2: Byte 7 of the line is a control character."),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, problem: str) -> None:
    assert read(text) == (None, [problem])


def test_a_file_that_is_too_large_is_refused() -> None:
    made, problems = read(TREC, limit=10)
    assert made is None
    assert problems == ["m.txt: The unpacked file is larger than 10 bytes. Split it."]


def test_a_confidence_that_is_none_is_refused() -> None:
    made, problems = read("1 Q0 a 1 2 m\n", input_format="judge")
    assert made is None
    assert problems == ["m.txt:1: The confidence 2 is not a number from 0 to 1; a dash means none."]


def test_other_formats_are_read_line_by_line() -> None:
    made, problems = read("qid,docno,grade\n1,a,2\n1,b,N/A\n2,c,-1\n")
    assert problems == []
    assert made is not None
    assert as_rows(made) == {("1", "a"): (2, None), ("1", "b"): (NO_GRADE, None)}
    assert made.unjudged == 1


def test_rows_of_a_person_become_columns_too() -> None:
    assert list(columns_of_rows([QrelsRow("1", "a", -1, 1)]).of_topics()) == []
    made = columns_of_rows([QrelsRow("1", "a", 1, 1), QrelsRow("2", "b", 0, 2)], {1: 0.5, 2: 1})
    assert as_rows(made) == {("1", "a"): (1, 0.5), ("2", "b"): (0, 1)}


def test_confidences_are_kept_when_a_file_is_read_line_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where topics alternate in a large file."""
    monkeypatch.setattr(label_columns, "MOST_PIECES", 1)
    made, problems = read(JUDGE)
    assert problems == []
    assert made is not None
    rows = as_rows(made)
    assert (rows["1", "a"], rows["1", "c"], rows["2", "a"]) == ((2, 0.5), (NO_GRADE, 0.25), (2, 1))
    assert np.isnan(rows["1", "b"][1] or 0)
