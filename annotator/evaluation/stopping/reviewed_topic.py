"""A topic's judged documents in the order of judging, with the random sample among them, and the knees of its curve."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.estimation.stored_samples import PackedStratum
from annotator.evaluation.runs.rankings import decode_documents
from annotator.evaluation.stopping.recall_estimates import SampledStratum

Marks = NDArray[np.bool_]
Whole = NDArray[np.int64]
Documents = NDArray[np.signedinteger]

NOWHERE: Whole = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class ReviewedTopic:
    """A topic's judged documents in the order of judging, and the random sample among them, if there is one.

    `stratum` has for each document the index in `strata` of the partly drawn stratum that it belongs to, or -1;
    `is_drawn` whether it was drawn there. `strata` has the size and the number drawn of each. `reached` has for each
    drawn document the number of documents that were judged when the review itself came to it, 0 while it has not.
    `waiting` is the number of drawn documents, of whole strata as well, that have no grade.
    """

    relevant: Marks
    candidates: int
    stratum: Whole = field(default_factory=NOWHERE.copy)
    is_drawn: Marks = field(default_factory=lambda: np.empty(0, np.bool_))
    strata: tuple[tuple[int, int], ...] = ()
    reached: Whole = field(default_factory=NOWHERE.copy)
    waiting: int = 0

    @property
    def judged(self) -> int:
        """The number of judged documents."""
        return self.relevant.size

    @cached_property
    def found(self) -> Whole:
        """How many relevant documents were found by each judged document."""
        return np.cumsum(self.relevant)

    @cached_property
    def sampled(self) -> tuple[SampledStratum, ...]:
        """The partly drawn strata, with what is known of them."""
        return tuple(self._sampled(index, size, drawn) for index, (size, drawn) in enumerate(self.strata))

    def _sampled(self, index: int, size: int, drawn: int) -> SampledStratum:
        is_inside = self.stratum == index
        of_sample = is_inside & self.is_drawn
        return SampledStratum(
            size,
            drawn,
            int(of_sample.sum()),
            int((of_sample & self.relevant).sum()),
            int(is_inside.sum()),
            int((is_inside & self.relevant).sum()),
        )

    @property
    def relevant_outside(self) -> int:
        """The number of relevant documents outside partly drawn strata."""
        return int((self.relevant & (self.stratum < 0)).sum()) if self.strata else int(self.relevant.sum())

    @cached_property
    def relevant_inside(self) -> Whole:
        """Strata x judged documents: how many relevant documents of the stratum were found by each."""
        return self._inside(self.relevant)

    @cached_property
    def irrelevant_inside(self) -> Whole:
        """Strata x judged documents: how many other documents of the stratum were judged by each."""
        return self._inside(~self.relevant)

    def _inside(self, counts: Marks) -> Whole:
        return np.array([np.cumsum(counts & (self.stratum == index)) for index in range(len(self.strata))], np.int64)

    @property
    def outside(self) -> Whole:
        """How many relevant documents outside partly drawn strata were found by each judged document."""
        return np.cumsum(self.relevant & (self.stratum < 0)) if self.strata else self.found

    @property
    def is_sample_judged(self) -> Marks:
        """Which judged documents are not before the last of the sample."""
        return np.asarray(np.arange(1, self.judged + 1) >= self.sample_complete_at, np.bool_)

    @property
    def comes_again(self) -> bool:
        """Whether the review has come to a document of the sample itself."""
        return bool(self.strata) and bool((self.reached[self.is_drawn] > 0).any())

    @cached_property
    def sample_complete_at(self) -> int:
        """The number of judged documents when the last drawn one was judged."""
        places = np.flatnonzero(self.is_drawn)
        return int(places[-1]) + 1 if places.size else 0

    @cached_property
    def chosen(self) -> Whole:
        """The places of the documents that were not drawn at random, in the order of judging."""
        return np.flatnonzero(~self.is_drawn) if self.strata else np.arange(self.judged)

    @cached_property
    def review(self) -> "ReviewedTopic":
        """The documents that were not drawn at random, as a topic without a sample."""
        if not self.strata:
            return self
        drawn = sum(drawn for _, drawn in self.strata)
        return ReviewedTopic(self.relevant[self.chosen], max(self.candidates - drawn, self.chosen.size))

    def after(self, judged: int) -> "ReviewedTopic":
        """What was judged after so many documents and not drawn at random, as a topic of its own."""
        later = self.chosen[self.chosen >= judged]
        return ReviewedTopic(self.relevant[later], max(self.candidates - self.judged, 0) + later.size)

    @cached_property
    def looks(self) -> Whole:
        """The numbers of documents after which a batch ends that begins with one and grows by a tenth, rounded up."""
        ends, batch, end = [], 1, 1
        while end <= self.judged:
            ends.append(end)
            batch += -(-batch // 10)
            end += batch
        return np.array(ends, np.int64)

    @cached_property
    def knees(self) -> "Knees":
        """The knee at each look."""
        return Knees.of(self)


@dataclass(frozen=True, eq=False)
class Knees:
    """For each look the relevant documents at the knee of the gain curve, and the ratio of slopes before and after."""

    relevant: Whole
    ratios: NDArray[np.float64]

    @classmethod
    def of(cls, topic: ReviewedTopic) -> "Knees":
        """Find the knees: the points that are farthest from the line between the origin and the end of the curve."""
        found, ratios = [], []
        places = np.arange(1, topic.judged + 1)
        for look in topic.looks.tolist():
            curve = topic.found[:look]
            total = int(curve[-1])
            knee = int(np.argmax(np.abs(curve * look - total * places[:look]))) + 1
            at_knee = int(curve[knee - 1])
            found.append(at_knee)
            ratios.append((at_knee / knee) * (look - knee) / (1 + total - at_knee))
        return cls(np.array(found, np.int64), np.array(ratios, np.float64))


def review_topic(
    documents: Documents,
    relevant: Marks,
    strata: Sequence[PackedStratum],
    reached: Mapping[int, int],
    candidates: int,
) -> ReviewedTopic:
    """Look up the judged documents of a topic, in the order of judging, in the strata of its random sample.

    `reached` has for documents to which the review came itself the number of documents that were judged then.
    `candidates` counts where there is no sample; with one it is the documents that could be drawn, and judged others.
    """
    if not strata:
        return ReviewedTopic(relevant, max(candidates, documents.size))
    frames = [decode_documents(one.documents) for one in strata]
    in_frame = np.concatenate(frames)
    is_open = [one.drawn < frame.size for one, frame in zip(strata, frames, strict=True)]
    index = np.cumsum(is_open) - 1
    of_frame = np.repeat(np.where(is_open, index, -1), [frame.size for frame in frames])
    drawn = np.concatenate([np.arange(frame.size) < one.drawn for one, frame in zip(strata, frames, strict=True)])
    order = np.argsort(in_frame, kind="stable")
    place = order[np.minimum(np.searchsorted(in_frame, documents, sorter=order), in_frame.size - 1)]
    is_inside = in_frame[place] == documents
    stratum = np.where(is_inside, of_frame[place], -1)
    return ReviewedTopic(
        relevant,
        int(in_frame.size + (~is_inside).sum()),
        stratum.astype(np.int64),
        np.asarray(is_inside & drawn[place] & (stratum >= 0), np.bool_),
        tuple((frame.size, one.drawn) for one, frame, opens in zip(strata, frames, is_open, strict=True) if opens),
        np.array([reached.get(one, 0) for one in documents.tolist()], np.int64),
        waiting=int(drawn.sum()) - int((is_inside & drawn[place]).sum()),
    )
