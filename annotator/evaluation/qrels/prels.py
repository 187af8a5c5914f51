"""Qrels of a sample: every document of the strata, -1 for what was not drawn, in five columns or in four."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotator.evaluation.qrels.qrels_format import UNJUDGED, WHOLE_TOPIC
from annotator.evaluation.runs.rankings import decode_documents

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
    """Say of every document of the strata what it counts for; `grades` are by topic id and document id.

    What was graded without being drawn stays -1: it was chosen for a reason, and estimates need what chance has chosen.
    """
    return [
        SampledRow(
            stratum.topic_id,
            document,
            stratum.number,
            grades.get((stratum.topic_id, document), UNJUDGED) if place < stratum.drawn else UNJUDGED,
            place < stratum.drawn,
        )
        for stratum in strata
        for place, document in enumerate(decode_documents(stratum.documents).tolist())
    ]


def rows_of_other_topics(sampled: Collection[int], grades: Mapping[tuple[int, int], int]) -> list[SampledRow]:
    """The grades of the topics that have no strata, as one stratum of documents that are all judged."""
    return [
        SampledRow(topic, document, FIRST_STRATUM, grade, is_drawn=False)
        for (topic, document), grade in grades.items()
        if topic not in sampled
    ]


def format_prels(lines: Iterable[PrelsLine], *, with_strata: bool) -> bytes:
    """Write the five columns that NIST's sample_eval.pl reads, or the four of qrels; same rows, same bytes.

    Topics stand by number when all of them are whole numbers, else by their bytes; documents by their bytes.
    """
    listed = _in_order(list(lines))
    if with_strata:
        return "".join(f"{topic} 0 {docno} {stratum} {grade}\n" for topic, docno, stratum, grade in listed).encode()
    return "".join(f"{topic} 0 {docno} {grade}\n" for topic, docno, _, grade in listed).encode()


def _in_order(lines: Sequence[PrelsLine]) -> list[PrelsLine]:
    if all(WHOLE_TOPIC.fullmatch(line[0]) for line in lines):
        return sorted(lines, key=lambda line: (int(line[0]), line[0], line[1]))
    return sorted(lines)
