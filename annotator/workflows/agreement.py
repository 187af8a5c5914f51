"""How far the judges agree: Cohen's kappa of every pair of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from sqlalchemy.orm import Session

from annotator.errors import Sentence
from annotator.evaluation.agreement import Kappa, band, kappa_of_grades
from annotator.evaluation.natural_order import natural_order
from annotator.storage import DROPPED
from annotator.storage.collection import find_collection, scale_of, topic_ids
from annotator.storage.grades import current_grades


@dataclass(frozen=True)
class PairAgreement:
    """Two judges, by name, and their kappa on the documents both gave a grade."""

    first: str
    second: str
    kappa: Kappa

    @property
    def band(self) -> Sentence | None:
        """Landis and Koch's word for the kappa, None when there is no kappa."""
        return None if self.kappa.value is None else band(self.kappa.value).sentence

    @property
    def confusion(self) -> list[list[int]]:
        """How often the first judge's grade (row) met the second's (column), in the order of the scale."""
        confusion: list[list[int]] = self.kappa.confusion.tolist()
        return confusion


@dataclass(frozen=True)
class AgreementReport:
    """Every pair of judges of a collection; `grades` is the scale in order."""

    judges: tuple[str, ...]
    grades: tuple[int, ...]
    pairs: tuple[PairAgreement, ...]
    topics_dropped: tuple[str, ...]


def agreement_report(session: Session, slug: str) -> AgreementReport:
    """Compare every two judges on what both have graded; *cannot judge* is no grade.

    Documents with the same text count once: what is carried over was never said a second time.

    Dropped topics do not count: the report says how far the grades behind the qrels can be trusted, and topics with
    hardly anything or nearly everything relevant, which are the ones dropped, pull kappa down by prevalence alone.
    """
    collection = find_collection(session, slug)
    grades = tuple(grade.value for grade in scale_of(session, collection.id))
    by_judge: dict[str, dict[int, int]] = {}
    for row in current_grades(session, collection.id, only_shown=True):
        by_judge.setdefault(row.judge, {})[row.pool_item_id] = row.grade
    judges = tuple(sorted(by_judge))
    pairs = [
        PairAgreement(first, second, _kappa(by_judge[first], by_judge[second], grades))
        for first, second in combinations(judges, 2)
    ]
    dropped = sorted(topic_ids(session, collection.id, DROPPED), key=natural_order)
    return AgreementReport(judges, grades, tuple(pairs), tuple(dropped))


def _kappa(first: dict[int, int], second: dict[int, int], grades: Sequence[int]) -> Kappa:
    common = sorted(first.keys() & second.keys())
    return kappa_of_grades([first[item] for item in common], [second[item] for item in common], grades)
