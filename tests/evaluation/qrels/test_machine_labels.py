"""Packed labels of a machine: packing, the label of a document that counts, and what does not fit together."""

import numpy as np
import pytest

from annotator.errors import InvalidValueError
from annotator.evaluation.qrels.machine_labels import (
    Judged,
    changes_of,
    confidences_of,
    is_damaged,
    label_rows,
    labels_at,
    pack_labels,
    unpack_labels,
)


def test_labels_come_back_in_the_order_of_documents() -> None:
    part = pack_labels(
        [30, 10, 20],
        [2, 0, 1],
        confidences=[0.5, 1, np.nan],
        probabilities=np.array([[0, 0.25, 0.75], [1, 0, 0], [np.nan] * 3]),
        outside={15: "N/A"},
    )
    assert np.frombuffer(part.documents, "<i4").tolist() == [10, 15, 20, 30]
    labels = unpack_labels([part])
    assert (labels.document_ids.tolist(), labels.grades.tolist(), len(labels)) == ([10, 20, 30], [0, 1, 2], 3)
    assert labels.confidences is not None
    assert labels.probabilities is not None
    np.testing.assert_array_equal(labels.confidences, [1, np.nan, 0.5])
    np.testing.assert_array_equal(labels.probabilities, [[1, 0, 0], [np.nan] * 3, [0, 0.25, 0.75]])
    assert labels.outside == {15: "N/A"}
    assert labels.document_ids.dtype == np.int64
    assert not is_damaged(part)


def test_the_last_label_of_a_document_counts() -> None:
    first = pack_labels([1, 2, 3, 4], [0, 0, 0, 0], confidences=[0.25, 0.5, 0.75, 1])
    second = pack_labels([2, 5], [1, 1], outside={3: "?"})
    labels = unpack_labels([first, second])
    assert dict(zip(labels.document_ids.tolist(), labels.grades.tolist(), strict=True)) == {1: 0, 2: 1, 4: 0, 5: 1}
    assert labels.confidences is not None
    np.testing.assert_array_equal(labels.confidences, [0.25, np.nan, 1, np.nan])
    assert labels.outside == {3: "?"}
    assert unpack_labels([]).document_ids.tolist() == []


def test_a_judgement_counts_and_one_that_says_the_same_keeps_the_confidence() -> None:
    part = pack_labels([1, 2, 3], [0, 1, 2], confidences=[0.25, 0.5, 0.75], outside={4: "?", 5: "!"})
    judged = [Judged(1, 0), Judged(2, 2), Judged(4, None, "?"), Judged(5, 1), Judged(6, 1), Judged(7, None, "n/a")]
    labels = unpack_labels([part], judged)
    assert (labels.document_ids.tolist(), labels.grades.tolist()) == ([1, 2, 3, 5, 6], [0, 2, 2, 1, 1])
    assert labels.confidences is not None
    np.testing.assert_array_equal(labels.confidences, [0.25, np.nan, 0.75, np.nan, np.nan])
    assert labels.outside == {4: "?", 7: "n/a"}
    assert unpack_labels([], [Judged(2, 1)]).grades.tolist() == [1]


def test_probabilities_of_a_scale_that_grew_are_filled_up() -> None:
    parts = [pack_labels([1], [0], probabilities=[[0.5, 0.5]]), pack_labels([2], [2], probabilities=[[0, 0, 1]])]
    labels = unpack_labels(parts)
    assert labels.probabilities is not None
    np.testing.assert_array_equal(labels.probabilities, [[0.5, 0.5, np.nan], [0, 0, 1]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [0]), "There are 2 documents and 1 grades."),
        (([1, 1], [0, 1]), "The document with the id 1 has two labels."),
        (([1], [40_000]), "A grade is too large: 40000."),
        (([1 << 31], [0]), "There is no document with the id 2147483648."),
        (([1], [0], [0.5, 0.5]), "There are 1 labels and 2 probabilities."),
        (([1], [0], [1.5]), "A confidence or probability is a number from 0 to 1."),
        (([1], [0], None, [0.5]), "There are 1 labels and 1 probabilities."),
        (([1], [0], None, [[-0.5, 1]]), "A confidence or probability is a number from 0 to 1."),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arguments: tuple[object, ...], message: str) -> None:
    names = ("confidences", "probabilities")
    with pytest.raises(InvalidValueError) as refused:
        pack_labels(*arguments[:2], **dict(zip(names, arguments[2:], strict=False)))  # type: ignore[arg-type]
    assert str(refused.value) == message


def test_changes_are_counted_outside_the_pool() -> None:
    before = [pack_labels([1], [2]), pack_labels([1, 2, 3], [0, 0, 0], outside={4: "?", 5: "?"}), pack_labels([], [])]
    part = pack_labels([1, 2, 6, 7], [0, 1, 1, 1], outside={3: "!", 4: "?", 5: "!"})
    changes = changes_of(before, part, {7})
    assert (changes.added, changes.changed, changes.known) == (1, 3, 2)
    assert list(labels_at(part, changes.pooled)) == [Judged(7, 1)]
    assert list(labels_at(part, [2])) == [Judged(3, None, "!")]
    assert changes_of([], part, ()).added == 7


def test_rows_are_in_the_order_of_docnos() -> None:
    labels = unpack_labels([pack_labels([1, 2], [0, 1], confidences=[0.5, 0.25], outside={3: "?"})])
    rows = label_rows(labels, {1: "b", 2: "c", 3: "a"})
    assert [row[:2] for row in rows] == [("a", "?"), ("b", "0"), ("c", "1")]
    assert rows[1:] == [("b", "0", 0.5), ("c", "1", 0.25)]


def test_parts_that_cannot_be_read_are_found() -> None:
    part = pack_labels([1, 2], [0, 1], confidences=[0.5, 1], probabilities=[[0, 1], [1, 0]])
    assert not is_damaged(part)
    assert is_damaged(part._replace(documents=part.documents[:-1]))
    assert is_damaged(part._replace(grades=part.grades[:-2]))
    assert is_damaged(part._replace(confidences=b""))
    assert is_damaged(part._replace(probabilities=part.probabilities and part.probabilities[:-4]))
    assert is_damaged(part._replace(outside=[[2, "?"]]))


def test_the_confidence_in_a_grade_is_that_of_its_last_label() -> None:
    first = pack_labels([1, 2, 3, 4], [0, 1, 2, 0], confidences=[0.5, 0.25, 0.75, 1])
    second = pack_labels([3, 2], [3, 1], probabilities=[[0, 0, 0.25, 0.75], [0.1, 0.5, 0.4, 0]])
    found = confidences_of([first, pack_labels([], []), second], [4, 3, 2, 1, 9], [0, 3, 1, 1, 0], (0, 1, 2, 3))
    np.testing.assert_array_equal(found, [1, 0.75, 0.5, np.nan, np.nan])


def test_parts_in_another_order_are_read_too() -> None:
    """As in an archive that was imported, where documents have other numbers."""
    part = pack_labels([1, 2, 3], [0, 1, 2], confidences=[0.25, 0.5, 0.75])
    numbered = part._replace(documents=np.array([30, 10, 20], "<i4").tobytes())
    assert confidences_of([numbered], [10, 20, 30], [1, 2, 0], (0, 1, 2)).tolist() == [0.5, 0.75, 0.25]
    assert unpack_labels([numbered]).grades.tolist() == [1, 2, 0]
