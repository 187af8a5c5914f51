"""Which topics are flagged for dropping, and what a quick look promises."""

import pytest

from annotator.evaluation.qrels.topic_flags import Fault, JudgedTopic, Promise, flag_topics, promise_of


@pytest.mark.parametrize(
    ("relevant", "judged", "fault"),
    [
        (0, 40, Fault.FEW),
        (2, 40, Fault.FEW),
        (3, 40, None),
        (15, 40, None),
        (16, 40, Fault.MANY),  # 40 % is too much already
        (40, 40, Fault.MANY),
        (2, 3, Fault.FEW),  # both: what is missing goes before what is too much
        (3, 8, None),
        (3, 5, Fault.MANY),
    ],
)
def test_a_topic_is_flagged_by_its_relevant_documents(relevant: int, judged: int, fault: Fault | None) -> None:
    flags = flag_topics([JudgedTopic("7", 50, judged, relevant, waiting=0)])
    assert [flag.fault for flag in flags] == ([] if fault is None else [fault])


def test_a_topic_of_which_nothing_is_judged_is_not_flagged() -> None:
    assert flag_topics([JudgedTopic("7", 50, 0, 0, waiting=50)]) == []


@pytest.mark.parametrize(
    ("relevant", "judged", "waiting", "fault"),
    [
        (0, 1, 49, None),  # the first judgement
        (1, 1, 49, None),
        (2, 40, 1, None),  # the one that waits may be the third
        (1, 40, 1, Fault.FEW),
        (0, 40, 3, None),
        (0, 40, 2, Fault.FEW),
        (9, 9, 1, None),  # a share of nine says little while others wait
        (9, 9, 0, Fault.MANY),
        (4, 10, 40, Fault.MANY),
        (3, 10, 40, None),
    ],
)
def test_a_topic_is_not_flagged_too_early(relevant: int, judged: int, waiting: int, fault: Fault | None) -> None:
    flags = flag_topics([JudgedTopic("7", judged + waiting, judged, relevant, waiting)])
    assert [flag.fault for flag in flags] == ([] if fault is None else [fault])


def test_a_flag_is_final_once_nothing_waits() -> None:
    [waits, seen] = flag_topics([JudgedTopic("7", 50, 10, 1, waiting=1), JudgedTopic("8", 50, 49, 1, waiting=0)])
    assert (waits.is_final, seen.is_final) == (False, True)
    assert "Fewer than 3 documents" in str(seen.fault.sentence)


@pytest.mark.parametrize(
    ("looked", "relevant", "promise"),
    [
        (0, 0, Promise.TOO_EARLY),
        (9, 9, Promise.TOO_EARLY),
        (10, 2, Promise.FEW),
        (25, 2, Promise.FEW),
        (25, 3, Promise.GOOD),
        (25, 20, Promise.GOOD),  # four in five is not more than four in five
        (25, 21, Promise.MANY),
    ],
)
def test_a_quick_look_promises_by_how_many_look_relevant(looked: int, relevant: int, promise: Promise) -> None:
    assert promise_of(looked, relevant) == promise
    assert len(str(promise.sentence)) > 20
