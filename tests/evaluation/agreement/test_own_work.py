"""Each judge's own work, and the items that several judges graded."""

from stored_judgements import Stored

from annotator.evaluation.agreement.graded_items import graded_items, grades_of_people, multiply_graded
from annotator.evaluation.agreement.own_work import OwnWork, compare_work, work_by_judge
from annotator.evaluation.qrels.topic_judgements import columns_of

JO, KIM, GPT = 1, 2, 4


def work(stored: Stored, judge: int = JO) -> OwnWork:
    return work_by_judge(columns_of(stored), [JO, KIM])[judge]


def test_the_work_of_each_person_is_counted_without_decisions_and_copies() -> None:
    stored = Stored()
    stored.add(5, 1, 1, JO, seconds=3.0, current=0)
    stored.add(6, 1, 1, JO, seconds=1.0, replaces=5, grade=2)
    stored.add(2, 2, 2, JO, grade=None, seconds=9.0)
    stored.add(7, 1, 3, JO, carried_from=6)
    stored.add(8, 1, 4, JO, assignment=80)
    stored.add(9, 1, 1, GPT)
    stored.adjudications = frozenset({80})
    own = work(stored)
    assert (own.judged, own.could_not, own.seconds) == (2, 1, [9.0, 3.0])
    assert (own.judgements.id.tolist(), own.items_under(4)) == ([2, 5, 6], {101})
    assert list(work_by_judge(columns_of(stored), [KIM])) == []
    assert compare_work({JO: own}, 1)[JO].graded == 1
    assert compare_work({}, 1) == {}


def test_fast_runs_need_time_to_read_long_texts() -> None:
    stored = Stored()
    for id_ in range(1, 6):
        stored.add(id_, 1, id_, JO, seconds=1.5, grade=1)
    own = work(stored)
    assert own.streaks(1.0, {}, 2) == []
    [streak] = own.streaks(1.0, {102: 120, 103: 120}, 2)
    assert (streak.start, streak.stop, own.only_grade(streak)) == (1, 3, 1)


def test_the_only_grade_of_a_run_is_none_if_it_varies_or_is_missing() -> None:
    stored = Stored()
    for id_, grade in enumerate([None, None, 1, 2], start=1):
        stored.add(id_, 1, id_, JO, seconds=0.1, grade=grade)
    [streak] = work(stored).streaks(1.0, {}, 2)
    assert work(stored).only_grade(streak) is None


def test_a_second_showing_is_compared_with_the_grade_until_then() -> None:
    stored = Stored()
    stored.add(1, 1, 1, JO, grade=2, current=0)
    stored.add(2, 1, 1, JO, grade=1, replaces=1)
    stored.add(3, 1, 1, JO, grade=0, assignment=30, current=0)
    stored.add(4, 1, 1, JO, grade=1, assignment=30, current=0, replaces=3)
    stored.add(5, 1, 2, JO, grade=None)
    stored.add(6, 1, 2, JO, grade=1, assignment=31, current=0)
    stored.add(7, 1, 3, JO, grade=1, assignment=32, current=0)
    stored.second_showings = frozenset({30, 31, 32})
    assert work(stored).again() == [(1, 1)]


def test_gold_questions_are_answered_by_present_grades() -> None:
    stored = Stored()
    stored.add(1, 1, 1, JO, grade=2)
    stored.add(2, 1, 2, JO, grade=None)
    stored.add(3, 1, 3, JO, grade=1)
    assert work(stored).answers({101: 2, 102: 1, 103: 0}) == [True, False]


def test_items_with_several_grades_are_listed_worst_first() -> None:
    stored = Stored()
    for id_, (document, judge, grade) in enumerate(
        [
            (1, JO, 1),
            (1, KIM, 2),
            (2, JO, 0),
            (2, KIM, 1),
            (3, JO, 0),
            (4, JO, 0),
            (4, GPT, 2),
            (5, JO, 1),
            (5, KIM, 1),
        ],
        start=1,
    ):
        stored.add(id_, 1, document, judge, grade=grade)
    stored.add(20, 2, 1, JO, grade=0, carried_from=3)
    stored.add(21, 2, 1, KIM, grade=1, carried_from=4)
    grades = grades_of_people(columns_of(stored), [JO, KIM])
    items = multiply_graded(grades)
    assert (items.item.tolist(), items.distance.tolist()) == ([101, 102, 105], [1, 1, 0])
    assert items.worst_first(1, [2, 1]).item.tolist() == [102, 101, 105]
    assert items.are_of_topics([2]).tolist() == [False] * 3
    assert (items.are_of([102]).tolist(), set(graded_items(grades))) == (
        [False, True, False],
        {101, 102, 103, 104, 105, 201},
    )
    assert multiply_graded(grades_of_people(columns_of(Stored()), [JO])).item.size == 0
