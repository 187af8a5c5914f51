"""The documents of topics in the order of judging, from settled judgements, and what a review has come to by then."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.qrels.settled_topics import CurrentOpinions
from annotator.evaluation.qrels.settling import SettledItems
from annotator.evaluation.qrels.topic_judgements import JudgementColumns, begins_of
from annotator.evaluation.runs.rankings import decode_documents
from annotator.evaluation.stopping.reviewed_topic import NOWHERE, ReviewedTopic, Whole

Judged = tuple[Whole, NDArray[np.bool_]]  # documents in the order of judging, and whether each is relevant
NOTHING: Judged = (NOWHERE, np.empty(0, np.bool_))
POINTS = 60  # of a curve


def in_order_of_judging(
    judgements: JudgementColumns, current: CurrentOpinions, settled: SettledItems, relevant_from: int
) -> dict[int, Judged]:
    """Topic → its documents with a settled grade, in the order in which each was first judged.

    `judgements` are all that count for the order, also those that were replaced; `current` are among them.
    """
    if not settled.has_grade.any():
        return {}
    starts = np.flatnonzero(begins_of(judgements.item))
    firsts, items = np.minimum.reduceat(judgements.id, starts), judgements.item[starts]
    by_item = np.argsort(items)
    first = firsts[by_item][np.searchsorted(items, settled.item, sorter=by_item)][settled.has_grade]
    topic, document = (
        current.of_items(column)[settled.has_grade]
        for column in (current.judgements.topic, current.judgements.document)
    )
    order = np.lexsort((first, topic))
    topic, document = topic[order], document[order]
    relevant = settled.grade[settled.has_grade][order] >= relevant_from
    starts = np.flatnonzero(begins_of(topic))
    pieces = zip(topic[starts].tolist(), np.split(document, starts[1:]), np.split(relevant, starts[1:]), strict=True)
    return {one: (documents, marks) for one, documents, marks in pieces}


def reached_by_choices(documents: Whole, chosen: Sequence[int]) -> dict[int, int]:
    """Document → how many were judged when it and all that were chosen before it were.

    `documents` are in the order of judging, `chosen` in that of choice; after the first unjudged one nothing counts.
    """
    places: Mapping[int, int] = {one: place for place, one in enumerate(documents.tolist(), start=1)} if chosen else {}
    reached: dict[int, int] = {}
    latest = 0
    for document in chosen:
        if document not in places:
            break
        latest = max(latest, places[document])
        reached[document] = latest
    return reached


def candidates_of(lists: Sequence[bytes]) -> int:
    """Count the different documents in packed lists."""
    return int(np.unique(np.concatenate([decode_documents(packed) for packed in lists])).size)


def curve_of_topics(topics: Sequence[ReviewedTopic]) -> list[tuple[int, int]]:
    """For numbers of documents judged of each topic: the relevant documents found by then, in all topics together."""
    most = max((topic.judged for topic in topics), default=0)
    numbers = np.unique(np.linspace(0, most, POINTS + 1).round().astype(int))
    found = np.zeros(numbers.size, np.int64)
    for topic in topics:
        found += np.append(0, topic.found)[np.minimum(numbers, topic.judged)]
    return list(zip(numbers.tolist(), found.tolist(), strict=True))
