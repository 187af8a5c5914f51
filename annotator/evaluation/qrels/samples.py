"""A pool that is a sample: what was drawn of each topic's strata, and the grades that estimates are computed from."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from annotator.evaluation.qrels.qrels_format import UNJUDGED
from annotator.evaluation.runs.rankings import decode_documents


class PackedStratum(Protocol):
    """A stratum of one topic, its documents packed in the order in which they were drawn."""

    @property
    def topic_id(self) -> int:
        """The topic."""

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
    """The strata of one topic, {document: stratum}, and the documents that were drawn from them."""

    strata: Mapping[int, int]
    drawn: Collection[int]

    def grades(self, settled: Mapping[int, int]) -> dict[int, int]:
        """The grades that estimates are computed from, -1 for a document that was not drawn or has no grade.

        A document that was graded without being drawn stays -1: it was chosen for a reason, and estimates need what
        chance has chosen. One outside the strata has no grade here.
        """
        drawn = self.drawn
        return {
            document: settled.get(document, UNJUDGED) if document in drawn else UNJUDGED for document in self.strata
        }

    def without(self, documents: Collection[int]) -> "TopicSample":
        """The sample of a residual collection, which does not have these documents."""
        strata = {document: number for document, number in self.strata.items() if document not in documents}
        return TopicSample(strata, self.drawn)


# Topic key → its sample; a topic that is not among them was not sampled.
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
