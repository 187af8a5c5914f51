"""The grades of a qrels file, topic by topic, for runs whose documents the database has numbered."""

from collections.abc import Collection, Mapping, Sequence

from annotator.errors import Sentence
from annotator.evaluation.formats.natural_order import natural_order
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.qrels.graded_topic import GradedTopic, topic_lines
from annotator.evaluation.qrels.prels import format_prels
from annotator.evaluation.qrels.qrels_format import UNJUDGED, QrelsRow
from annotator.evaluation.qrels.samples import TopicSample


def graded_topics(
    rows: Sequence[QrelsRow], topics: Mapping[str, int], documents: Mapping[str, int], unknown: int
) -> dict[int, GradedTopic]:
    """The topics, {number: key}, with their rows; of five columns, the strata are the sample that it states.

    A document that is not among `documents`, {docno: number}, still counts, under a number of its own from `unknown`.
    """
    of_topics: dict[str, list[tuple[int, QrelsRow]]] = {number: [] for number in topics}
    for offset, row in enumerate(rows):
        of_topics[row.topic].append((documents.get(row.docno, unknown + offset), row))
    names = sorted({row.stratum for row in rows if row.stratum is not None}, key=natural_order)
    strata = {name: number for number, name in enumerate(names)}
    return {topics[number]: _graded_topic(number, listed, strata) for number, listed in of_topics.items()}


def notices_of_file(rows: Collection[QrelsRow], measures: Collection[Measure], *, is_sampled: bool) -> list[Sentence]:
    """That a file does not state what was drawn, where the pool is a sample and measures estimate from it."""
    estimates = [str(measure) for measure in measures if measure.definition.estimates]
    states_it = any(row.stratum is not None or row.grade == UNJUDGED for row in rows)
    if states_it or not estimates or not is_sampled:
        return []
    return [
        Sentence(
            "The pool is a sample, and the file does not state which documents were not drawn (-1). Estimates take it "
            "for complete: %(measures)s. Export the qrels with the sample for them.",
            {"measures": ", ".join(estimates)},
        )
    ]


def _graded_topic(number: str, listed: Sequence[tuple[int, QrelsRow]], strata: Mapping[str, int]) -> GradedTopic:
    grades = {document: row.grade for document, row in listed}
    if not strata:
        return GradedTopic.of(grades, topic_lines(number, [(row.docno, row.grade) for _, row in listed]))
    of_documents = {document: strata[row.stratum or ""] for document, row in listed}
    columns = [(number, row.docno, row.stratum or "", row.grade) for _, row in listed]
    sample = TopicSample(of_documents, frozenset(grades))
    return GradedTopic.of(grades, format_prels(columns, with_strata=True), sample=sample)
