"""A sampled pool: the documents drawn from each topic's strata, and qrels with -1 for those not drawn."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from annotator.evaluation.qrels.qrels_format import UNJUDGED, WHOLE_TOPIC
from annotator.evaluation.runs.rankings import decode_documents


class PackedStratum(Protocol):
    """A stratum of one topic, its documents packed in the order in which they were drawn."""

    @property
    def topic_id(self) -> int:
        """The id of the topic."""

    @property
    def number(self) -> int:
        """Its number in the topic, from 1 at the top of the ranked lists."""

    @property
    def drawn(self) -> int:
        """How many of its documents, from the first, were drawn."""

    @property
    def documents(self) -> bytes:
        """All its documents."""


@dataclass(frozen=True, eq=False)
class TopicSample:
    """The strata of one topic, {document: stratum}, and the documents drawn from them."""

    strata: Mapping[int, int]
    drawn: Collection[int]

    def grades(self, settled: Mapping[int, int]) -> dict[int, int]:
        """The grades that estimates are computed from, -1 for a document that was not drawn or has no grade.

        A document graded without being drawn stays -1: it was not chosen at random, as the estimates require. Where all
        documents of a stratum are graded they count, since nothing is left to chance. A document outside the strata has
        no grade here.
        """
        drawn = self.drawn
        ungraded = {number for document, number in self.strata.items() if settled.get(document, UNJUDGED) < 0}
        return {
            document: settled.get(document, UNJUDGED) if document in drawn or number not in ungraded else UNJUDGED
            for document, number in self.strata.items()
        }

    def without(self, documents: Collection[int]) -> "TopicSample":
        """Return the sample of the residual collection without these documents."""
        strata = {document: number for document, number in self.strata.items() if document not in documents}
        return TopicSample(strata, self.drawn)


# Topic key → its sample; topics without an entry were not sampled.
Samples = Mapping[int, TopicSample]
NO_SAMPLES: Samples = {}


def samples_of(strata: Iterable[PackedStratum]) -> dict[int, TopicSample]:
    """Unpack the strata of a pool, by topic."""
    numbers: dict[int, dict[int, int]] = {}
    drawn: dict[int, set[int]] = {}
    for stratum in strata:
        documents = decode_documents(stratum.documents).tolist()
        numbers.setdefault(stratum.topic_id, {}).update(dict.fromkeys(documents, stratum.number))
        drawn.setdefault(stratum.topic_id, set()).update(documents[: stratum.drawn])
    return {topic: TopicSample(numbers[topic], frozenset(drawn[topic])) for topic in numbers}


FIRST_STRATUM = 1


@dataclass(frozen=True)
class SampledStratum:
    """A stratum of one topic, its documents packed in the order in which they were drawn."""

    topic_id: int
    number: int
    drawn: int
    documents: bytes


@dataclass(frozen=True)
class SampledRow:
    """A document of a stratum; the grade is -1 when it was not drawn, or has none yet."""

    topic_id: int
    document_id: int
    stratum: int
    grade: int
    is_drawn: bool


# Topic number, docno, stratum, grade.
PrelsLine = tuple[str, str, int | str, int]


def sampled_rows(strata: Iterable[SampledStratum], grades: Mapping[tuple[int, int], int]) -> list[SampledRow]:
    """Return a row for every document of the strata; `grades` are by topic id and document id.

    A document graded without being drawn stays -1: it was not chosen at random, as the estimates require. Where all
    documents of a stratum are graded they count, since nothing is left to chance.
    """
    return [row for stratum in strata for row in _rows_of_stratum(stratum, grades)]


def _rows_of_stratum(stratum: SampledStratum, grades: Mapping[tuple[int, int], int]) -> Iterator[SampledRow]:
    documents = decode_documents(stratum.documents).tolist()
    found = [grades.get((stratum.topic_id, document), UNJUDGED) for document in documents]
    count = len(documents) if all(grade != UNJUDGED for grade in found) else stratum.drawn
    for place, (document, grade) in enumerate(zip(documents, found, strict=True)):
        counted = grade if place < count else UNJUDGED
        yield SampledRow(stratum.topic_id, document, stratum.number, counted, place < stratum.drawn)


def rows_of_other_topics(sampled: Collection[int], grades: Mapping[tuple[int, int], int]) -> list[SampledRow]:
    """The grades of the topics that have no strata, as one stratum of documents that are all judged."""
    return [
        SampledRow(topic, document, FIRST_STRATUM, grade, is_drawn=False)
        for (topic, document), grade in grades.items()
        if topic not in sampled
    ]


def format_prels(lines: Iterable[PrelsLine], *, with_strata: bool) -> bytes:
    """Format the five columns that NIST's sample_eval.pl reads, or the four of qrels; the order of rows is free.

    Topics are sorted by number when all of them are whole numbers, else by their bytes; documents by their bytes.
    """
    listed = _in_order(list(lines))
    if with_strata:
        return "".join(f"{topic} 0 {docno} {stratum} {grade}\n" for topic, docno, stratum, grade in listed).encode()
    return "".join(f"{topic} 0 {docno} {grade}\n" for topic, docno, _, grade in listed).encode()


def _in_order(lines: Sequence[PrelsLine]) -> list[PrelsLine]:
    if all(WHOLE_TOPIC.fullmatch(line[0]) for line in lines):
        return sorted(lines, key=lambda line: (int(line[0]), line[0], line[1]))
    return sorted(lines)
