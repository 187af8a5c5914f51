"""Agreement of judges from their labels."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from annotator.errors import InvalidValueError
from annotator.evaluation.agreement.kappa import Weighting
from annotator.evaluation.agreement.labels import Labels, places_in_scale
from annotator.evaluation.agreement.many_judges import Level
from annotator.evaluation.agreement.report import (
    AgreementOfAll,
    AgreementOfPair,
    agreement_of_all,
    agreement_of_pairs,
)
from annotator.evaluation.metrics.inputs import named
from annotator.evaluation.runs.foreign_runs import plain_name
from annotator.library.inputs import (
    DOCNO,
    GRADE,
    JUDGE,
    TOPIC,
    Given,
    are_files,
    columns_of,
    distinct_names,
    grades_of,
    grouped,
)
from annotator.library.tables import Table

Graded = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, repr=False)
class Agreement(Table):
    """A row for each two judges, on the documents that both graded.

    `low` and `high` are the 95 % interval of Cohen's kappa; `same` is the share of documents with the same grade,
    `overlap` that of the relevant sets.
    """

    together: AgreementOfAll | None = None  # Krippendorff's alpha, Fleiss' kappa and others, of all judges
    pairs: tuple[AgreementOfPair, ...] = ()

    @property
    def alpha(self) -> float | None:
        """Krippendorff's alpha of all judges for ordered grades; None where it is undefined."""
        return None if self.together is None else self.together.alpha[Level.ORDINAL].value


def agreement(labels: Given, *, relevant_from: int = 1, weights: str = "none") -> Agreement:
    """Compute the agreement of judges.

    `labels` are qrels by judge, {judge: file, dict or frame}, a list of files, each named after its judge, or a frame
    with the columns judge, topic, docno and grade. Weights of kappa are none, linear or quadratic. Raises
    `FileRefusedError` for files with problems and `InvalidValueError` for invalid values, and when there are no two
    judges.
    """
    by_judge = _by_judge(labels)
    if len(by_judge) == 1:
        raise InvalidValueError("Agreement needs two judges or more; there is only %(judge)s.", judge=min(by_judge))
    try:
        weighting = Weighting(weights)
    except ValueError:
        raise InvalidValueError(
            "The weights of kappa are %(weights)s, not “%(given)s”.", weights=", ".join(Weighting), given=weights
        ) from None
    coded = _coded(by_judge)
    relevant = [place for place, grade in enumerate(coded.grades) if grade >= relevant_from]
    first_relevant = relevant[0] if relevant else len(coded.grades)
    pairs = agreement_of_pairs(coded, first_relevant, weighting)
    together = agreement_of_all(coded, first_relevant, weighting)
    rows = tuple(
        (
            *(one.first, one.second, one.kappa.n, one.kappa.value),
            *(one.kappa.interval or (None, None)),
            *(one.same.value, one.overlap.value),
        )
        for one in pairs
    )
    alpha = together.alpha[Level.ORDINAL]
    shown = "undefined" if alpha.value is None else f"{alpha.value:.4f}"
    reasons = [alpha.reason, *(one.kappa.reason for one in pairs)]
    notes = dict.fromkeys(str(reason.sentence) for reason in reasons if reason is not None)
    columns = ("first", "second", "documents", "kappa", "low", "high", "same", "overlap")
    return Agreement(columns, rows, (f"Krippendorff's alpha of all judges: {shown}", *notes), together, tuple(pairs))


def _by_judge(labels: Given) -> dict[str, Graded]:
    if are_files(labels):
        judges = distinct_names([plain_name(named(file)[0]) for file in labels], labels)
        labels = dict(zip(judges, labels, strict=True))
    if isinstance(labels, Mapping):
        found: dict[str, Graded] = {str(judge): grades_of(given, str(judge)) for judge, given in labels.items()}
    else:
        columns = columns_of(labels, "labels", JUDGE, TOPIC, DOCNO, GRADE)
        rows: dict[str, list[tuple[str, str, int]]] = {}
        for judge, topic, docno, grade in zip(*columns, strict=True):
            rows.setdefault(judge, []).append((topic, docno, grade))
        found = {judge: grades_of(grouped(*zip(*of_judge, strict=True))) for judge, of_judge in rows.items()}
    if not found:
        raise InvalidValueError("There are no labels.")
    return found


def _coded(by_judge: Mapping[str, Graded]) -> Labels:
    """Labels as arrays, in the order of items and within an item of judges."""
    judges = sorted(by_judge)
    entries = sorted(
        (topic, docno, place, grade)
        for place, judge in enumerate(judges)
        for topic, grades in by_judge[judge].items()
        for docno, grade in grades.items()
    )
    topics = sorted({topic for topic, *_ in entries})
    items: dict[tuple[str, str], int] = {}
    item = [items.setdefault((topic, docno), len(items)) for topic, docno, *_ in entries]
    grades = tuple(sorted({grade for *_, grade in entries}))
    index = {topic: place for place, topic in enumerate(topics)}
    return Labels(
        item=np.array(item, np.intp),
        judge=np.array([judge for _, _, judge, _ in entries], np.intp),
        topic=np.array([index[topic] for topic, *_ in entries], np.intp),
        grade=places_in_scale(np.array([grade for *_, grade in entries], np.int64), grades),
        moment=np.arange(len(entries)),
        own_time=np.zeros(len(entries), np.bool_),
        judges=tuple(judges),
        topics=tuple(topics),
        grades=grades,
    )
