"""The intervals that a planned sample will give, with a machine and without, before anybody is paid."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError
from annotator.evaluation.estimation.estimated_measures import estimated_measure
from annotator.evaluation.metrics.names import measure_on_scale
from annotator.evaluation.pooling.pool_choice import DocnosOf, ListsOfTopics, read_topics
from annotator.evaluation.pooling.probability_sample import NO_GRADES, Known
from annotator.evaluation.pooling.sample_precision import (
    Correlation,
    Foreseen,
    OpenTopic,
    correlation_with_people,
    foreseen,
)
from annotator.evaluation.pooling.strategies import Strategy
from annotator.storage import Collection
from annotator.storage.qrels.current_grades import opinions

MEASURES = ("nDCG@10", "P@10", "AP")
USUAL_HALF_WIDTH, USUAL_DIFFERENCE = 0.02, 0.05
POINTS = 8  # budgets that are shown, the requested one among them


@dataclass(frozen=True)
class PrecisionWanted:
    """The half width of an interval, and the difference of two runs to be found with a power of 0.8."""

    half_width: float = USUAL_HALF_WIDTH
    difference: float = USUAL_DIFFERENCE

    def check(self) -> None:
        """Raise `InvalidValueError` for what is no positive number."""
        for value in (self.half_width, self.difference):
            if not isfinite(value) or value <= 0:
                raise InvalidValueError(
                    "The half of an interval and a difference must be above 0, not %(given)s.", given=value
                )


@dataclass(frozen=True)
class MeasurePrecision:
    """What a sample gives in a measure: `people` without the machine.

    Half widths are of the mean run's interval for these topics: at the requested budget, and for each budget of the
    plan's points. Documents are the fewest for the wanted interval and for the wanted difference.
    """

    measure: str
    half_width: float
    half_width_people: float
    for_interval: int
    for_interval_people: int
    for_difference: int
    for_difference_people: int
    points: tuple[tuple[int, float, float], ...]  # budget, half width, half width without the machine


@dataclass(frozen=True)
class SamplePrecision:
    """The foreseen intervals; the machine's correlation with people is of `judged` documents, assumed for 0."""

    machine: str
    correlation: float
    judged: int
    documents: int  # in the frame
    wanted: PrecisionWanted
    measures: tuple[MeasurePrecision, ...]


def foresee_precision(
    session: Session,
    collection: Collection,
    strategy: Strategy,
    topics: Mapping[int, str],
    lists: ListsOfTopics,
    docnos_of: DocnosOf,
    *,
    seed: int,
    known: Known,
    wanted: PrecisionWanted,
) -> SamplePrecision | None:
    """Foresee what a sample with a machine gives; None without a machine, by whose grades the spread is foreseen."""
    if strategy.machine is None or strategy.budget is None:
        return None
    open_topics = []
    for topic, runs, _ in read_topics(topics, lists, docnos_of):
        machine = known.topics[topic].machine if topic in known.topics else NO_GRADES
        open_topics.append(OpenTopic.of(runs, strategy.open_strata(runs, known, topic, seed), machine))
    agreed = _correlation(session, collection.id, known)
    documents = sum(stratum.documents.size for one in open_topics for stratum in one.strata)
    measures = []
    for name in MEASURES:
        measure = measure_on_scale(name, known.grades[0])
        how = estimated_measure(measure, collection.relevant_from)
        found = [
            foreseen(open_topics, how, strategy.allocation, agreed.value, of_pairs=of_pairs, uses_machine=uses_machine)
            for of_pairs in (False, True)
            for uses_machine in (True, False)
        ]
        measures.append(_precision(str(measure), strategy.budget, wanted, *found))
    return SamplePrecision(strategy.machine, agreed.value, agreed.judged, documents, wanted, tuple(measures))


def _precision(
    measure: str,
    budget: int,
    wanted: PrecisionWanted,
    run: Foreseen,
    run_people: Foreseen,
    pair: Foreseen,
    pair_people: Foreseen,
) -> MeasurePrecision:
    budgets = sorted({budget, *(max(run.least, run.most * part // POINTS) for part in range(1, POINTS + 1))})
    return MeasurePrecision(
        measure,
        run.half_width(budget),
        run_people.half_width(budget),
        run.documents_for_interval(wanted.half_width),
        run_people.documents_for_interval(wanted.half_width),
        pair.documents_for_difference(wanted.difference),
        pair_people.documents_for_difference(wanted.difference),
        tuple((one, run.half_width(one), run_people.half_width(one)) for one in budgets),
    )


def _correlation(session: Session, collection_id: int, known: Known) -> Correlation:
    """Correlate people's grades with the machine's, over the documents that both have graded."""
    labels = {topic: one.machine.by_document for topic, one in known.topics.items()}
    judged = opinions(session, collection_id, machines=False, topics=labels)
    pairs = ((one.grade, labels[one.topic_id].get(one.document_id)) for one in judged)
    return correlation_with_people((grade, of_machine) for grade, of_machine in pairs if of_machine is not None)
