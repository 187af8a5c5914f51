"""Quality of each judge, for organisers only: pace, lenience, gold questions, self-agreement, streaks, drift."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError, NotFoundError
from annotator.evaluation.agreement.judge_quality import (
    CHARACTERS_TO_SEE,
    Change,
    Pace,
    Share,
    Streak,
    Work,
    fast_below,
    least_seconds,
    pace,
    share_of,
)
from annotator.evaluation.agreement.judging_seconds import JudgingSeconds, judging_seconds
from annotator.evaluation.agreement.kappa import kappa_of_grades
from annotator.evaluation.agreement.own_work import OwnWork, compare_work, work_by_judge
from annotator.evaluation.agreement.results import Kappa
from annotator.storage.agreement.judge_activity import begun, known_grades, text_lengths
from annotator.storage.collections.collection import find_collection, scale_of
from annotator.storage.judging.topic_judgements import judges_by_id
from annotator.workflows.judging.topic_judgements import read_judgements

USUAL_STREAK = 10
USUAL_PERCENT = 25
MOST_LEAST_SECONDS = least_seconds(CHARACTERS_TO_SEE)


@dataclass(frozen=True)
class Fast:
    """The threshold of a fast streak: documents in a row, each in less than this per cent of the median time."""

    streak: int = USUAL_STREAK
    percent: int = USUAL_PERCENT

    def __post_init__(self) -> None:
        """Raise `InvalidValueError` for values that would match nothing or everything."""
        if self.streak < 2 or not 1 <= self.percent <= 100:  # noqa: PLR2004 - explained in the message
            raise InvalidValueError(
                "A very fast streak has 2 documents or more, each in 1 to 100 per cent of the median time; "
                "%(streak)d and %(percent)d do not fit.",
                streak=self.streak,
                percent=self.percent,
            )


@dataclass(frozen=True)
class FastStreak:
    """A fast streak: the topic of its first document, when it began, and the grade if all got the same."""

    topic: str
    began_at: datetime
    documents: int
    median_seconds: float
    only_grade: int | None


@dataclass(frozen=True)
class SelfAgreement:
    """A judge's agreement with themselves on documents shown again; `same` is None before the first one."""

    same: Share | None
    kappa: Kappa


@dataclass(frozen=True)
class JudgeQuality:
    """One judge; `work` is None without a grade, `pace` without known times, `right` without answered gold questions.

    `fast_below` is the fast threshold of this judge in seconds, None without a pace.
    """

    judge: str
    judged: int
    could_not: int
    pace: Pace | None
    fast_below: float | None
    streaks: tuple[FastStreak, ...]
    work: Work | None
    right: Share | None
    again: SelfAgreement
    seconds: JudgingSeconds | None


class Table(NamedTuple):
    """A report as rows, for a file or a terminal."""

    headings: tuple[str, ...]
    rows: list[Sequence[str | int | float | None]]


@dataclass(frozen=True)
class QualityReport:
    """Every person who judged anything in an accepted topic, by name, and the definition of a fast streak."""

    judges: tuple[JudgeQuality, ...]
    fast: Fast

    def of(self, judge: str) -> JudgeQuality:
        """The report of one judge; raises `NotFoundError` for one who judged nothing."""
        for one in self.judges:
            if one.judge == judge:
                return one
        raise NotFoundError("“%(judge)s” has judged nothing in this collection.", judge=judge)


class _Fast(NamedTuple):
    """The fast threshold of a judge in seconds, and their fast streaks."""

    below: float | None
    streaks: list[Streak]


def report_quality(session: Session, slug: str, fast: Fast | None = None) -> QualityReport:
    """Report on every judge of a collection; machines and adjudications are left out.

    Of a document judged more than once, the current judgement counts, with the time of the first. Judgements copied
    from a document with the same text do not count: the document was never shown.
    """
    fast = fast or Fast()
    collection = find_collection(session, slug)
    judges = {id_: judge.name for id_, judge in judges_by_id(session).items() if not judge.is_machine}
    by_judge = work_by_judge(read_judgements(session, collection.id, docnos=False), judges)
    work = compare_work(by_judge, collection.relevant_from)
    paces = {judge: pace(own.seconds) for judge, own in by_judge.items()}
    hasty = {item for own in by_judge.values() for item in own.items_under(MOST_LEAST_SECONDS)}
    characters = text_lengths(session, hasty, CHARACTERS_TO_SEE)
    very_fast = {judge: _very_fast(judge, own, paces, fast, characters) for judge, own in by_judge.items()}
    firsts = [int(by_judge[id_].first.id[one.start]) for id_, found in very_fast.items() for one in found.streaks]
    began = begun(session, firsts)
    known = known_grades(session, collection.id)
    scale = [grade.value for grade in scale_of(session, collection.id)]
    reports = [
        JudgeQuality(
            judges[id_],
            own.judged,
            own.could_not,
            paces[id_],
            very_fast[id_].below,
            tuple(_streak(own, one, began) for one in very_fast[id_].streaks),
            work.get(id_),
            _right(own.answers(known)),
            _again(own.again(), scale),
            judging_seconds(own.seconds),
        )
        for id_, own in sorted(by_judge.items(), key=lambda one: judges[one[0]])
    ]
    return QualityReport(tuple(reports), fast)


def _very_fast(
    judge: int, own: OwnWork, paces: Mapping[int, Pace | None], fast: Fast, characters: Mapping[int, int]
) -> _Fast:
    measured = paces[judge]
    if measured is None:
        return _Fast(None, [])
    others = [one.median_seconds for other, one in paces.items() if other != judge and one is not None]
    below = fast_below(measured.median_seconds, others, fast.percent / 100)
    return _Fast(below, own.streaks(below, characters, fast.streak))


def _streak(own: OwnWork, streak: Streak, began: Mapping[int, tuple[str, datetime]]) -> FastStreak:
    topic, began_at = began[int(own.first.id[streak.start])]
    return FastStreak(topic, began_at, streak.length, streak.median_seconds, own.only_grade(streak))


def _right(answers: Sequence[bool]) -> Share | None:
    """The share of graded gold questions with the correct grade."""
    return share_of(sum(answers), len(answers))


def _again(graded: Sequence[tuple[int, int]], scale: Sequence[int]) -> SelfAgreement:
    """Compare the grade at the second showing with the judge's grade until then."""
    same = share_of(sum(before == then for before, then in graded), len(graded))
    kappa = kappa_of_grades([before for before, _ in graded], [then for _, then in graded], scale)
    return SelfAgreement(same, kappa)


HEADINGS = (
    *("judge", "judged", "could_not", "median_seconds", "an_hour", "fast_streaks", "relevant"),
    *("relevant_beside_others", "others", "difference", "difference_low", "difference_high"),
    *("agreement", "documents_shared", "agreement_change", "agreement_change_low", "agreement_change_high"),
    *("difference_change", "difference_change_low", "difference_change_high"),
    *("right", "right_low", "right_high", "answered"),
    *("same_again", "same_again_low", "same_again_high", "shown_again", "kappa_again"),
)


def quality_table(report: QualityReport) -> Table:
    """One row per judge; shares are from 0 to 1, and unknown values are None."""
    return Table(HEADINGS, [_row(judge) for judge in report.judges])


def streaks_table(report: QualityReport) -> Table:
    """One row per very fast streak."""
    return Table(
        ("judge", "topic", "began_at", "documents", "median_seconds", "only_grade"),
        [
            [
                *(one.judge, streak.topic, streak.began_at.isoformat(), streak.documents),
                *(streak.median_seconds, streak.only_grade),
            ]
            for one in report.judges
            for streak in one.streaks
        ],
    )


def stretches_table(report: QualityReport) -> Table:
    """One row per segment of a judge's documents in order of judgement."""
    return Table(
        ("judge", "until", "relevant", "difference", "agreement"),
        [
            [one.judge, stretch.until, stretch.relevant, stretch.difference, stretch.agreement]
            for one in report.judges
            if one.work is not None
            for stretch in one.work.stretches
        ],
    )


def _row(one: JudgeQuality) -> list[str | int | float | None]:
    work, again = one.work, one.again
    lenience = work.lenience if work else None
    return [
        *(one.judge, one.judged, one.could_not),
        *((one.pace.median_seconds, one.pace.documents_an_hour) if one.pace else (None, None)),
        len(one.streaks),
        work.relevant.value if work else None,
        *((lenience.own, lenience.others) if lenience else (None, None)),
        *_change(lenience.difference if lenience else None),
        *((work.agreement, work.shared) if work else (None, 0)),
        *_change(work.drift.agreement if work else None),
        *_change(work.drift.lenience if work else None),
        *_share(one.right),
        *_share(again.same),
        again.kappa.value,
    ]


def _change(change: Change | None) -> Sequence[float | None]:
    return (None, None, None) if change is None else (change.value, *(change.interval or (None, None)))


def _share(share: Share | None) -> Sequence[float | None]:
    return (None, None, None, 0) if share is None else (share.value, *share.interval, share.of)
