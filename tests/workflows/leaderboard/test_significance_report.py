"""Which runs differ by more than chance, from what is stored."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from beginning import beginning
from build import NOW, SLUG, labels, news, pooled_news, run, topic_file
from sqlalchemy import update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.evaluation.significance.results import Undefined
from annotator.storage import Topic, TopicState
from annotator.workflows.leaderboard.significance_report import (
    SignificancePart,
    SignificanceRequest,
    significance_report,
)
from annotator.workflows.qrels import qrels, qrels_versions

P1 = SignificanceRequest("P@1", permutations=200)
TOPICS = "".join(f"{number}\ttopic\n" for number in range(1, 5))


@beginning
def four_topics(session: Session) -> None:
    """P@1 by topic: first 1 1 1 0, second 1 0 0 0, third 0 0 0 1; a is relevant to all four, z to none."""
    news(session)
    topic_file(session, TOPICS)
    for tag, right in (("third", "0001"), ("second", "1000"), ("first", "1110")):
        lists = {str(number): ["a" if found == "1" else "z"] for number, found in enumerate(right, start=1)}
        run(session, tag, lists)
    labels(session, "jo", "".join(f"{number} 0 a 1\n" for number in range(1, 5)), add_to_pool=True)


def test_runs_stand_best_first_with_their_means(session: Session) -> None:
    four_topics(session)
    report = significance_report(session, SLUG, P1)
    assert report.tags == ("first", "second", "third")
    assert [one.mean.value for one in report.means] == [0.75, 0.25, 0.25]
    assert (report.state.name, report.state.grades, report.state.topics) == ("live", 4, 4)
    assert (report.pairs, report.differing, report.letters.of_runs) == (3, 0, ("a", "a", "a"))


def test_of_two_runs_tukeys_p_is_that_of_the_paired_t_test(session: Session) -> None:
    # With two runs the mean square of the rest is half the variance of their differences: both ask the same.
    news(session)
    topic_file(session, TOPICS)
    run(session, "one", {"1": ["a"], "2": ["a"], "3": ["a"], "4": ["z"]})
    run(session, "two", {"1": ["a"], "2": ["z"], "3": ["z"], "4": ["z"]})
    labels(session, "jo", "".join(f"{number} 0 a 1\n" for number in range(1, 5)), add_to_pool=True)
    report = significance_report(session, SLUG, P1)
    [[first, second, difference, differ, tukey, _, by_t, holm]] = report.table(SignificancePart.PAIRS)[1]
    # Differences 0 1 1 0: mean 0.5, deviation 0.57735, t = 0.5 / 0.288675 = 1.73205; p of 3 degrees is 0.18169.
    assert (first, second, difference, differ) == ("one", "two", -0.5, False)
    assert [tukey, by_t, holm] == pytest.approx([0.18169] * 3, abs=1e-5)


def test_a_baseline_is_compared_with_each_of_the_others(session: Session) -> None:
    four_topics(session)
    report = significance_report(session, SLUG, SignificanceRequest("P@1", baseline="second", permutations=0))
    assert report.randomised is None
    rows = report.table(SignificancePart.BASELINE)[1]
    assert [row[:3] for row in rows] == [["first", 0.75, 0.5], ["third", 0.25, 0.0]]
    with pytest.raises(NotFoundError, match="“nobody” is not among the runs"):
        significance_report(session, SLUG, SignificanceRequest(baseline="nobody"))


def test_variance_is_shared_out_and_topics_are_counted(session: Session) -> None:
    four_topics(session)
    report = significance_report(session, SLUG, P1)
    shares = [row[2] for row in report.table(SignificancePart.VARIANCE)[1]]
    assert sum(share for share in shares if isinstance(share, float)) == pytest.approx(1)
    needed = [row[3] for row in report.table(SignificancePart.TOPICS)[1]]
    assert needed == sorted(needed, key=lambda count: -(count if isinstance(count, int) else 0))
    assert len(needed) == 4


def test_a_kept_version_is_not_the_grades_of_this_moment(session: Session) -> None:
    four_topics(session)
    kept = qrels.export_qrels(session, SLUG, made_at=NOW)
    qrels_versions.keep_qrels(session, SLUG, kept, made_by_id=None, made_at=NOW)
    labels(session, "jo", "1 0 a 0\n4 0 z 1\n", add_to_pool=True, name="later.txt")
    request = SignificanceRequest("P@1", qrels="1", permutations=0)
    before = significance_report(session, SLUG, request)
    after = significance_report(session, SLUG, SignificanceRequest("P@1", permutations=0))
    assert {tag: one.mean.value for tag, one in zip(before.tags, before.means, strict=True)}["second"] == 0.25
    # What was right on topic 1 no longer is, and z is on topic 4, where second has it.
    assert {tag: one.mean.value for tag, one in zip(after.tags, after.means, strict=True)} == {
        "first": 0.75,
        "second": 0.25,
        "third": 0.25,
    }
    session.execute(update(Topic).where(Topic.number == "1").values(state=TopicState.DROPPED))
    assert significance_report(session, SLUG, request).state.topics == 3


@pytest.mark.parametrize(
    ("judged", "reason"),
    [
        ("1 0 a 1\n1 0 d 0\n", Undefined.ONE_TOPIC),
        ("1 0 b 1\n2 0 c 1\n", Undefined.NO_DIFFERENCE),
        ("1 0 a 1\n2 0 a 1\n", Undefined.SAME_DIFFERENCE),
    ],
    ids=["one topic", "all equal", "the same difference everywhere"],
)
def test_where_nothing_can_be_said_the_reason_is(session: Session, judged: str, reason: Undefined) -> None:
    pooled_news(session)
    labels(session, "jo", judged, add_to_pool=True)
    report = significance_report(session, SLUG, SignificanceRequest("P@1", baseline="alpha", permutations=50))
    assert report.model.critical_difference.reason is reason
    assert (report.letters.reason, report.differ(0, 1)) == (reason, None)
    assert (report.needed == ()) == (report.needed_reason is not None)
    for part in SignificancePart:
        assert report.table(part)[0]


def test_one_run_has_none_to_be_compared_with(session: Session) -> None:
    news(session)
    topic_file(session)
    run(session, "alone", {"1": ["a"], "2": ["a"]})
    labels(session, "jo", "1 0 a 1\n2 0 a 0\n", add_to_pool=True)
    report = significance_report(session, SLUG, P1)
    assert report.model.critical_difference.reason is Undefined.ONE_RUN
    assert report.table(SignificancePart.PAIRS)[1] == []


def test_permuting_is_watched_and_left_out_where_it_would_take_long(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    four_topics(session)
    told: list[int] = []

    @contextmanager
    def watch(steps: int) -> Iterator[Callable[[], None]]:
        told.append(steps)
        yield lambda: told.append(1)

    significance_report(session, SLUG, P1, watch=watch)
    assert told == [1, 1]
    usual = SignificanceRequest("P@1", permutations=None)
    assert significance_report(session, SLUG, usual).randomised is not None
    monkeypatch.setattr("annotator.workflows.leaderboard.significance_report.QUICK_SCORES", 10)
    assert significance_report(session, SLUG, usual).randomised is None


@pytest.mark.parametrize(
    ("request_", "refusal", "words"),
    [
        (SignificanceRequest("nDGC"), InvalidValueError, "nDGC"),
        (SignificanceRequest(""), InvalidValueError, "measure"),
        (SignificanceRequest(qrels="7"), NotFoundError, "no version 7"),
        (SignificanceRequest(qrels="old"), InvalidValueError, "neither the number"),
        (SignificanceRequest(permutations=-1), InvalidValueError, "from 0 to 1000000"),
        (SignificanceRequest(permutations=3), InvalidValueError, "at least 19"),
        (SignificanceRequest(seed=-1), InvalidValueError, "A seed"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    session: Session, request_: SignificanceRequest, refusal: type[Exception], words: str
) -> None:
    four_topics(session)
    with pytest.raises(refusal, match=words):
        significance_report(session, SLUG, request_)


def test_without_a_grade_or_a_run_there_is_nothing_to_test(session: Session) -> None:
    news(session)
    topic_file(session)
    with pytest.raises(ConflictError, match="Nothing is judged yet"):
        significance_report(session, SLUG)
    labels(session, "jo", "1 0 a 1\n", add_to_pool=True)
    with pytest.raises(ConflictError, match="no run to score"):
        significance_report(session, SLUG)


def test_where_less_is_better_the_run_with_least_stands_first(session: Session) -> None:
    four_topics(session)
    labels(session, "jo", "".join(f"{number} 0 z 0\n" for number in range(1, 5)), add_to_pool=True, name="z.txt")
    report = significance_report(session, SLUG, SignificanceRequest("FP", permutations=0))
    assert report.tags == ("first", "second", "third")
    assert [one.mean.value for one in report.means] == [0.25, 0.75, 0.75]
