"""The parts of the report as rows of plain values, for files and terminals."""

from collections.abc import Sequence
from typing import NamedTuple

from annotator.evaluation.agreement.many_judges import Level
from annotator.evaluation.agreement.report import (
    AgreementOfAll,
    AgreementOfJudge,
    AgreementOfPair,
    AgreementOfTopic,
    AgreementOnGrade,
    Moment,
)
from annotator.evaluation.agreement.results import band
from annotator.evaluation.agreement.topic_intervals import TopicInterval
from annotator.evaluation.metrics.figures import Figure

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
    """One topic a row, with the ordinal alpha."""
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
    """One grade a row: how often the others gave it, too."""
    rows: list[list[Cell]] = [[one.grade, one.same.value, _reason(one.same)] for one in grades]
    return Table(("grade", "same", "reason"), rows)


def table_of_moments(moments: Sequence[Moment]) -> Table:
    """One moment a row: the ordinal alpha after so many documents."""
    return Table(("documents", "alpha"), [[one.items, one.value] for one in moments])


def _reason(figure: Figure) -> str | None:
    return str(figure.reason.sentence) if figure.reason else None


def _band(value: float | None) -> str | None:
    return None if value is None else str(band(value).sentence)
