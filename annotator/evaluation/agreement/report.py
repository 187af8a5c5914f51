"""The agreement report of one set of labels: all judges, by pair, topic, judge and grade, over time; and as tables."""

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.agreement.kappa import (
    Weighting,
    coefficients,
    cohen_chance,
    gwet_chance,
    kappas_of_confusions,
    mean_difference,
    negative_agreement,
    overlap,
    positive_agreement,
    same_grade,
    scott_chance,
    uniform_chance,
)
from annotator.evaluation.agreement.labels import Labels, judges_by_item, topic_of_items, with_own_time
from annotator.evaluation.agreement.many_judges import (
    Level,
    alphas_of_coincidences,
    coincidences_by_place,
    conger_kappa,
    fleiss_kappa,
    gwet_ac,
    overlap_of_all,
    uniform_kappa,
)
from annotator.evaluation.agreement.results import Band, Coefficient, Kappa, Undefined, band
from annotator.evaluation.agreement.topic_intervals import TopicInterval, alpha_interval, kappa_intervals
from annotator.evaluation.metrics.figures import Figure, SentenceEnum

MOST_POINTS = 200  # maximum number of points of a line over time
_GRADE_NOT_GIVEN = Figure(None, Undefined.GRADE_NOT_GIVEN)
# One judge against all others is computed as for two judges, but the reasons are worded differently.
_REASON_OF_ONE: dict[SentenceEnum, SentenceEnum] = {
    Undefined.NO_OVERLAP: Undefined.ALONE,
    Undefined.SINGLE_GRADE: Undefined.SINGLE_GRADE_OF_ALL,
}


@dataclass(frozen=True)
class AgreementOfAll:
    """All judges together."""

    judgements: int
    items: int
    items_shared: int  # graded by two judges or more: only these give agreement
    alpha: dict[Level, Coefficient]
    fleiss: Coefficient
    conger: Coefficient
    gwet: Coefficient
    uniform: Coefficient
    overlap: Figure  # overlap of the relevant sets, over items that every judge graded


@dataclass(frozen=True)
class AgreementOfPair:
    """Two judges, by name, on the documents both graded."""

    first: str
    second: str
    kappa: Kappa
    scott: Coefficient
    gwet: Coefficient  # AC1, weighted AC2
    uniform: Coefficient  # PABAK; for more than two grades Brennan and Prediger's
    same: Figure  # share of documents with the same grade: raw agreement
    positive: Figure
    negative: Figure
    overlap: Figure
    difference: Figure  # mean of the first judge's grade minus the second's: below 0 the first is the stricter
    by_topics: TopicInterval  # of kappa; `kappa.interval` is the analytic one, which takes documents as independent

    @property
    def band(self) -> Band | None:
        """The verbal band of kappa; whether it may be chance is decided by the interval by topics, if there is one."""
        value = self.kappa.value
        return None if value is None else band(value, self.by_topics.interval or self.kappa.interval)


@dataclass(frozen=True)
class AgreementOfTopic:
    """One topic, over its items graded by two judges or more.

    `same` is the mean share, over all grades of these items, of the item's other judges who gave the same grade.
    """

    topic: str
    items_shared: int
    alpha: Coefficient
    same: Figure


@dataclass(frozen=True)
class AgreementOfJudge:
    """One judge against all others: all pairs of the judge's grade and another judge's grade of the same document.

    Pairs of one document are not independent, so there is no interval. `difference` below 0
    means that this judge is stricter than the others.
    """

    judge: str
    pairs: int
    kappa: Coefficient
    difference: Figure


@dataclass(frozen=True)
class AgreementOnGrade:
    """One grade: the mean share, over its uses on shared items, of the item's other judges who also gave it."""

    grade: int
    same: Figure


@dataclass(frozen=True)
class Moment:
    """A value after a number of documents."""

    items: int
    value: float | None


@dataclass(frozen=True)
class OverTime:
    """A value over time; without moments when two judges have no common documents with times of their own."""

    moments: tuple[Moment, ...]
    left_out: int  # grades without a time of their own, such as those of a file


def agreement_of_all(labels: Labels, first_relevant: int, weighting: Weighting = Weighting.NONE) -> AgreementOfAll:
    """Compute agreement of all judges together; `first_relevant` is the scale's index of the least relevant grade."""
    counts, weights = labels.grade_counts, weighting.of(len(labels.grades))
    together = coincidences_by_place(counts, np.zeros(len(counts), np.intp), 1)
    alpha = {level: alphas_of_coincidences(together, labels.grades, level)[0] for level in Level}
    by_chance = (
        fleiss_kappa(counts, weights),
        conger_kappa(labels, weights),
        gwet_ac(counts, weights),
        uniform_kappa(counts, weights),
    )
    missing = _nothing_to_compare(labels)
    if missing is not None:
        alpha = dict.fromkeys(alpha, Coefficient(None, missing))
        by_chance = (Coefficient(None, missing),) * 4
    shared = int(np.count_nonzero(judges_by_item(counts) > 1))
    relevant_sets = overlap_of_all(labels, first_relevant) if missing is None else Figure(None, missing)
    return AgreementOfAll(labels.item.size, labels.items, shared, alpha, *by_chance, relevant_sets)


def agreement_of_pairs(
    labels: Labels,
    first_relevant: int,
    weighting: Weighting = Weighting.NONE,
    *,
    only: Container[tuple[str, str]] | None = None,
) -> list[AgreementOfPair]:
    """Compute agreement of every two judges in the order of their names, or only of the requested pairs."""
    pairs = list(combinations(labels.judges, 2))
    places = [place for place, names in enumerate(pairs) if only is None or names in only]
    confusions, weights = labels.pair_confusions[places], weighting.of(len(labels.grades))
    columns = zip(
        (pairs[place] for place in places),
        kappas_of_confusions(confusions, weights),
        coefficients(confusions, weights, scott_chance),
        coefficients(confusions, weights, gwet_chance),
        coefficients(confusions, weights, uniform_chance),
        same_grade(confusions),
        positive_agreement(confusions, first_relevant),
        negative_agreement(confusions, first_relevant),
        overlap(confusions, first_relevant),
        mean_difference(confusions, labels.grades),
        kappa_intervals(labels, weights, places),
        strict=True,
    )
    return [AgreementOfPair(*names, *figures) for names, *figures in columns]


def agreement_of_topics(labels: Labels, level: Level = Level.ORDINAL) -> list[AgreementOfTopic]:
    """Compute agreement by topic, in the order of `labels.topics`."""
    size = len(labels.topics)
    counts, topic = labels.grade_counts, topic_of_items(labels)
    shared = judges_by_item(counts) > 1
    coincidences = coincidences_by_place(counts[shared], topic[shared], size)
    alphas = alphas_of_coincidences(coincidences, labels.grades, level)
    pairs = coincidences.sum(axis=(1, 2)).tolist()
    same = np.trace(coincidences, axis1=1, axis2=2).tolist()
    items = np.bincount(topic[shared], minlength=size).tolist()
    return [
        AgreementOfTopic(
            name,
            items[place],
            alphas[place],
            Figure(same[place] / pairs[place]) if items[place] else Figure(None, Undefined.NO_SHARED_DOCUMENT),
        )
        for place, name in enumerate(labels.topics)
    ]


def agreement_of_judges(labels: Labels, weighting: Weighting = Weighting.NONE) -> list[AgreementOfJudge]:
    """Compute agreement of each judge with all others, in the order of their names."""
    confusions, size = labels.pair_confusions, len(labels.grades)
    against_others = np.zeros((len(labels.judges), size, size), np.int64)
    first, second = np.triu_indices(len(labels.judges), 1)  # the order of `combinations`
    np.add.at(against_others, first, confusions)
    np.add.at(against_others, second, confusions.transpose(0, 2, 1))
    kappas = coefficients(against_others, weighting.of(size), cohen_chance)
    differences = mean_difference(against_others, labels.grades)
    pairs = against_others.sum(axis=(1, 2)).tolist()
    return [
        AgreementOfJudge(
            name,
            count,
            replace(kappa, reason=kappa.reason and _REASON_OF_ONE.get(kappa.reason, kappa.reason)),
            difference if count else Figure(None, Undefined.ALONE),
        )
        for name, count, kappa, difference in zip(labels.judges, pairs, kappas, differences, strict=True)
    ]


def agreement_on_grades(labels: Labels) -> list[AgreementOnGrade]:
    """Compute agreement on each grade of the scale, in order, for any number of judges."""
    counts = labels.grade_counts
    together = coincidences_by_place(counts, np.zeros(len(counts), np.intp), 1)[0]
    given, same = together.sum(axis=1).tolist(), together.diagonal().tolist()
    return [
        AgreementOnGrade(grade, Figure(same[place] / given[place]) if given[place] else _GRADE_NOT_GIVEN)
        for place, grade in enumerate(labels.grades)
    ]


def interval_of_all(labels: Labels, level: Level = Level.ORDINAL) -> TopicInterval:
    """Compute the interval by topics of alpha of all judges."""
    coincidences = coincidences_by_place(labels.grade_counts, topic_of_items(labels), len(labels.topics))
    return alpha_interval(coincidences, labels.grades, level)


def running_kappa(
    labels: Labels, first: str, second: str, weighting: Weighting = Weighting.NONE, points: int = MOST_POINTS
) -> OverTime:
    """Kappa of two judges, by name, over the documents that both had graded at each point; without labels of files."""
    of_two = np.isin(labels.judge, [labels.judges.index(name) for name in (first, second)])
    left_out = int(np.count_nonzero(of_two & ~labels.own_time))
    labels = with_own_time(labels)
    one, other = _shared_by(labels, first, second)
    size = len(labels.grades)
    in_time = np.argsort(np.maximum(labels.moment[one], labels.moment[other]))
    cells = (labels.grade[one] * size + labels.grade[other])[in_time]
    segment, ends = _segments(cells.size, points)
    met = np.bincount(segment * size**2 + cells, minlength=ends.size * size**2)
    confusions = met.reshape(ends.size, size, size).cumsum(axis=0)
    kappas = kappas_of_confusions(confusions, weighting.of(size))
    return OverTime(tuple(Moment(kappa.n, kappa.value) for kappa in kappas), left_out)


def running_alpha(labels: Labels, level: Level = Level.ORDINAL, points: int = MOST_POINTS) -> OverTime:
    """Alpha of all judges over the documents with all their current grades at each point; without labels of files."""
    left_out = int(np.count_nonzero(~labels.own_time))
    labels = with_own_time(labels)
    counts, finished = labels.grade_counts, np.zeros(labels.items, np.intp)
    first = np.flatnonzero(np.diff(labels.item, prepend=-1))
    finished[labels.item[first]] = np.maximum.reduceat(labels.moment, first) if first.size else 0
    shared = np.flatnonzero(judges_by_item(counts) > 1)
    counts = counts[shared[np.argsort(finished[shared])]]
    segment, ends = _segments(len(counts), points)
    coincidences = coincidences_by_place(counts, segment, ends.size).cumsum(axis=0)
    alphas = alphas_of_coincidences(coincidences, labels.grades, level)
    moments = (Moment(items, alpha.value) for items, alpha in zip(ends.tolist(), alphas, strict=True))
    return OverTime(tuple(moments), left_out)


def _nothing_to_compare(labels: Labels) -> Undefined | None:
    if not labels.item.size:
        return Undefined.NO_JUDGEMENT
    return Undefined.ONE_JUDGE if len(labels.judges) == 1 else None


def _shared_by(labels: Labels, first: str, second: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The entries of two judges for the items both graded, in the order of items."""
    of_first, of_second = (np.flatnonzero(labels.judge == labels.judges.index(name)) for name in (first, second))
    _, one, other = np.intersect1d(labels.item[of_first], labels.item[of_second], return_indices=True)
    return of_first[one], of_second[other]


def _segments(size: int, points: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Split `size` entries into at most `points` segments: the segment of every entry, and the end of each segment."""
    ends = np.unique(np.linspace(0, size, min(size, points) + 1).astype(np.intp))[1:]
    return np.searchsorted(ends, np.arange(size), side="right"), ends


Cell = str | int | float | None


class Table(NamedTuple):
    """Rows of cells; `reason` says why a row has no value."""

    headings: tuple[str, ...]
    rows: list[list[Cell]]


def table_of_all(together: AgreementOfAll, interval: TopicInterval) -> Table:
    """One statistic a row; `interval` is that of the ordinal alpha."""
    low, high = interval.interval or (None, None)
    alphas = {f"alpha, {level}": together.alpha[level] for level in Level if level is not Level.RATIO}
    others = {
        "Fleiss' kappa": together.fleiss,
        "Conger's kappa": together.conger,
        "Gwet's AC": together.gwet,
        "uniform kappa": together.uniform,
    }
    rows: list[list[Cell]] = [
        [
            *(name, one.value, *((low, high) if name == f"alpha, {Level.ORDINAL}" else (None, None))),
            *(one.observed, one.expected, _reason(one)),
        ]
        for name, one in (alphas | others).items()
    ]
    overlap = together.overlap
    rows.append(["overlap of all", overlap.value, None, None, None, None, _reason(overlap)])
    return Table(("statistic", "value", "low", "high", "observed", "expected", "reason"), rows)


def table_of_pairs(pairs: Sequence[AgreementOfPair]) -> Table:
    """One pair of judges a row.

    `low` and `high` bound kappa with 95 % confidence by topics; `analytic_low` and `analytic_high` take documents as
    independent.
    """
    headings = (
        *("first", "second", "n", "kappa", "low", "high", "analytic_low", "analytic_high"),
        *("observed", "expected", "band", "same", "difference", "overlap", "reason"),
    )
    rows: list[list[Cell]] = []
    for pair in pairs:
        kappa = pair.kappa
        intervals = (*(pair.by_topics.interval or (None, None)), *(kappa.interval or (None, None)))
        word = pair.band and str(pair.band.sentence)
        missing = kappa.reason or pair.by_topics.reason
        reason = str(missing.sentence) if missing else None
        figures = (pair.same.value, pair.difference.value, pair.overlap.value)
        kappas = (kappa.n, kappa.value, *intervals, kappa.observed, kappa.expected, word)
        rows.append([pair.first, pair.second, *kappas, *figures, reason])
    return Table(headings, rows)


def table_of_topics(topics: Sequence[AgreementOfTopic]) -> Table:
    """One topic a row, with alpha at the ordinal level."""
    rows: list[list[Cell]] = [
        [one.topic, one.items_shared, one.alpha.value, one.same.value, _reason(one.alpha)] for one in topics
    ]
    return Table(("topic", "documents", "alpha", "same", "reason"), rows)


def table_of_judges(judges: Sequence[AgreementOfJudge]) -> Table:
    """One judge a row, against all others."""
    headings = ("judge", "pairs", "kappa", "observed", "expected", "band", "difference", "reason")
    rows: list[list[Cell]] = [
        [
            *(one.judge, one.pairs, one.kappa.value, one.kappa.observed, one.kappa.expected, _band(one.kappa.value)),
            *(one.difference.value, _reason(one.kappa)),
        ]
        for one in judges
    ]
    return Table(headings, rows)


def table_of_grades(grades: Sequence[AgreementOnGrade]) -> Table:
    """One grade a row: the share of other judges who also gave it."""
    rows: list[list[Cell]] = [[one.grade, one.same.value, _reason(one.same)] for one in grades]
    return Table(("grade", "same", "reason"), rows)


def table_of_moments(moments: Sequence[Moment]) -> Table:
    """One moment a row: ordinal alpha after so many documents."""
    return Table(("documents", "alpha"), [[one.items, one.value] for one in moments])


def _reason(figure: Figure) -> str | None:
    return str(figure.reason.sentence) if figure.reason else None


def _band(value: float | None) -> str | None:
    return None if value is None else str(band(value).sentence)
