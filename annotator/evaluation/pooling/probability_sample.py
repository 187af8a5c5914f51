"""The strategy sample: a budget of documents, drawn at random from strata of rank band and machine's grade."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError
from annotator.evaluation.estimation.sample_sizes import Allocation, Cells, allocate
from annotator.evaluation.pooling.ordering import judging_order
from annotator.evaluation.pooling.strata import Stratum
from annotator.evaluation.pooling.topic_runs import TopicRuns
from annotator.evaluation.runs.rankings import decode_documents

Documents = NDArray[np.int32]
Grades = NDArray[np.int64]
NONE: Documents = np.empty(0, np.int32)
LEAST_VARIANCE = 0.01  # of a machine's grades in a topic: one that gives all the same grade may be wrong


@dataclass(frozen=True, eq=False)
class MachineGrades:
    """A machine's grades of documents of a topic: document numbers, ascending, and the grade of each."""

    documents: NDArray[np.int64]
    grades: Grades

    @property
    def by_document(self) -> dict[int, int]:
        """The grades by document."""
        return dict(zip(self.documents.tolist(), self.grades.tolist(), strict=True))

    def look_up(self, documents: NDArray[np.int32]) -> tuple[Grades, NDArray[np.bool_]]:
        """The grades of these documents, 0 where there is none, and which have one."""
        if not self.documents.size:
            return np.zeros(documents.size, np.int64), np.zeros(documents.size, np.bool_)
        place = np.minimum(np.searchsorted(self.documents, documents), self.documents.size - 1)
        has_grade = self.documents[place] == documents
        return np.where(has_grade, self.grades[place], 0), has_grade


NO_GRADES = MachineGrades(np.zeros(0, np.int64), np.zeros(0, np.int64))


@dataclass(frozen=True, eq=False)
class KnownOfTopic:
    """What is known of a topic beside its runs.

    `found` are the documents found by an adaptive strategy or by people's searches, which are judged in any case, and
    `earlier` the strata of the sample before: they stay as they are, with their documents in the order of the draw.
    """

    found: Documents = field(default_factory=NONE.copy)
    machine: MachineGrades = field(default_factory=lambda: NO_GRADES)
    earlier: tuple[Stratum, ...] = ()

    @classmethod
    def of(cls, found: Sequence[int], machine: MachineGrades, earlier: Sequence["PackedStratum"]) -> "KnownOfTopic":
        """Take documents by number, and strata as they are stored."""
        return cls(np.array(found, np.int32), machine, tuple(map(unpacked, earlier)))


class PackedStratum(Protocol):
    """A stratum of one topic, its documents packed in the order in which they were drawn."""

    @property
    def number(self) -> int:
        """Its number, which means alike strata in all topics."""

    @property
    def rate(self) -> float:
        """The share that was drawn."""

    @property
    def drawn(self) -> int:
        """How many of its documents, from the first, were drawn."""

    @property
    def documents(self) -> bytes:
        """All its documents."""


def unpacked(stratum: PackedStratum) -> Stratum:
    """Decode the documents of a stratum."""
    return Stratum(stratum.number, stratum.rate, decode_documents(stratum.documents), stratum.drawn)


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of all topics, by key; `grades` is the scale, best first, empty without a machine.

    `numbers` is the greatest number of a stratum in the sample before, 0 without one.
    """

    topics: Mapping[int, KnownOfTopic] = field(default_factory=dict)
    grades: tuple[int, ...] = ()
    numbers: int = 0


NOTHING_KNOWN = Known()


@dataclass(frozen=True, eq=False)
class OpenStratum:
    """A stratum of one topic before the budget is divided, its documents in the order in which they are drawn."""

    number: int
    documents: Documents
    taken: int  # how many are judged in any case: drawn before, or certain
    deviation: float  # the standard deviation of what a document adds to DCG, over all runs

    def drawn(self, count: int) -> Stratum:
        """Return the stratum with this number of documents drawn."""
        return Stratum(self.number, count / max(self.documents.size, 1), self.documents, count)


@dataclass(frozen=True)
class Layout:
    """How strata are formed and numbered, alike in all topics.

    The first has the top ranks and what was found otherwise; then come the bands, and in each the machine's grades,
    best first, and the documents without a grade.
    """

    certainty_depth: int
    ends: tuple[int, ...]  # the last rank of each band below the certain ones
    grades: tuple[int, ...]
    before: int  # the number before the first

    @classmethod
    def of(cls, certainty_depth: int, bands: Sequence[int], depth: int, known: Known) -> "Layout":
        """Bands that end at these ranks and at `depth`."""
        ends = tuple(end for end in bands if certainty_depth < end < depth)
        return cls(certainty_depth, (*ends, depth), known.grades, known.numbers)

    @property
    def certain(self) -> int:
        """The number of the stratum that is judged whole."""
        return self.before + 1

    def numbers(self, ranks: NDArray[np.int32], grades: Grades, has_grade: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return the stratum of each document by its best rank, from 1, and its grade."""
        band = np.searchsorted(np.array(self.ends), ranks)
        kind = np.full(ranks.size, len(self.grades))
        for place, grade in enumerate(self.grades):
            kind[has_grade & (grades == grade)] = place
        number = self.certain + 1 + band * (len(self.grades) + 1) + kind
        return np.where(ranks <= self.certainty_depth, self.certain, number)

    def described(self) -> Iterator[dict[str, int | None]]:
        """Each stratum by its number: its first and last rank, and its grade, None for documents without one."""
        yield {"number": self.certain, "first": 1, "last": self.certainty_depth}
        first, number = self.certainty_depth + 1, self.certain
        for end in self.ends:
            for grade in (*self.grades, None):
                number += 1
                yield {"number": number, "first": first, "last": end, "grade": grade}
            first = end + 1


def probability_sample(runs: TopicRuns, known: KnownOfTopic, layout: Layout, seed: int) -> tuple[OpenStratum, ...]:
    """Draw a number of documents at random, to estimate the measures with intervals from few judgements.

    Strata are bands of best ranks, and with a machine its grades in each band; documents without its grade are strata
    of their own. The top of the runs (certainty_depth), and what adaptive choices and searches have found, is judged
    whole. The rest of the budget is divided over all topics and strata (allocation): neyman draws more where ranks
    weigh more, as in DCG, and where the machine's grades vary more; proportional by size; equal evenly. Each stratum
    has one document or more. A later sample keeps the strata and the documents of the one before and adds strata of
    the documents that were in no run then. Which document of a stratum comes first depends on the seed, the topic and
    its docno alone. `leaderboard show --estimate` estimates from the sample. Neyman, Journal of the Royal Statistical
    Society 1934; Cochran, Sampling Techniques, 1977.
    """
    is_new = ~np.isin(runs.documents, [document for one in known.earlier for document in one.documents.tolist()])
    grades, has_grade = known.machine.look_up(runs.documents)
    numbers = layout.numbers(runs.best_rank, grades, has_grade)
    numbers[np.isin(runs.documents, known.found)] = layout.certain
    squares = _squared_weights(runs) * max(float(np.var(grades[has_grade])) if has_grade.any() else 1, LEAST_VARIANCE)
    # Not the judging-order priorities: else judges would see the samples of sparser strata earlier.
    turns = judging_order(runs.docnos, seed, f"{runs.topic}\0stratum")
    strata = [_again(one, runs, squares) for one in known.earlier]
    outside = known.found[~np.isin(known.found, [*runs.documents.tolist(), *_documents(known.earlier)])]
    present = np.unique(numbers[is_new]).tolist()
    for number in present if layout.certain in present or not outside.size else [layout.certain, *present]:
        places = np.flatnonzero(is_new & (numbers == number))
        documents = runs.documents[places[np.argsort(turns[places], kind="stable")]]
        is_certain = number == layout.certain
        documents = np.concatenate([documents, outside]) if is_certain else documents
        deviation = float(np.sqrt(squares[places].mean())) if places.size else 0.0
        strata.append(OpenStratum(number, documents, documents.size if is_certain else 0, deviation))
    return tuple(strata)


def _documents(strata: Sequence[Stratum]) -> list[int]:
    return [document for one in strata for document in one.documents.tolist()]


def _squared_weights(runs: TopicRuns) -> NDArray[np.float64]:
    """For each place, the square of DCG's weight of the document, as the mean over runs."""
    squared = 1 / np.log2(runs.entries.rank + 1.0) ** 2
    return runs.sums(squared) / max(runs.given.size, 1)


def _again(stratum: Stratum, runs: TopicRuns, squares: NDArray[np.float64]) -> OpenStratum:
    places = [runs.place_of[document] for document in stratum.documents.tolist() if document in runs.place_of]
    mean = float(squares[places].sum()) / max(stratum.documents.size, 1)
    return OpenStratum(stratum.number, stratum.documents, stratum.drawn, float(np.sqrt(mean)))


Open = Sequence[Sequence[OpenStratum]]


def divided(topics: Open, budget: int, how: Allocation) -> list[tuple[Stratum, ...]]:
    """Divide a budget among the strata of all topics; raises `InvalidValueError` when it is too small."""
    drawn = iter(allocate(cells_of(topics), budget, how).tolist())
    return [tuple(stratum.drawn(next(drawn)) for stratum in strata) for strata in topics]


@dataclass(frozen=True, eq=False)
class GrowingSample:
    """The documents of each topic in the order in which a growing budget adds them.

    `entered` has for each document the least budget with it; those that are judged in any case have that of all such.
    """

    least: int
    documents: list[Documents]
    entered: list[NDArray[np.int64]]


def growing(topics: Open, how: Allocation) -> GrowingSample:
    """Return how the sample grows from the smallest budget to all documents."""
    cells = cells_of(topics)
    least, order = int(cells.least.sum()), cells.order(how)
    entry = np.arange(least + 1, least + order.size + 1)
    # The n-th time that a cell is named, it gives its next document.
    of_cells = np.split(entry[np.argsort(order, kind="stable")], np.cumsum(cells.sizes - cells.least)[:-1])
    documents, entered, cell = [], [], 0
    for strata in topics:
        numbers, budgets = [NONE], [np.zeros(0, np.int64)]
        for stratum in strata:
            numbers.append(stratum.documents)
            budgets.append(np.concatenate([np.full(int(cells.least[cell]), least), of_cells[cell]]))
            cell += 1
        whole, by_entry = np.concatenate(numbers), np.concatenate(budgets)
        in_order = np.argsort(by_entry, kind="stable")
        documents.append(whole[in_order])
        entered.append(by_entry[in_order])
    return GrowingSample(least, documents, entered)


def cells_of(topics: Open) -> Cells:
    """The strata of all topics in a row, with what is judged in any case."""
    strata = [stratum for of_topic in topics for stratum in of_topic]
    return Cells(
        np.array([stratum.documents.size for stratum in strata], np.intp),
        np.array([stratum.deviation for stratum in strata], np.float64),
        np.array([stratum.taken for stratum in strata], np.intp),
        len(topics),
    )


def require_labels(machine: str | None, known: Known) -> None:
    """Raise `InvalidValueError` where a machine is named and its labels are not known."""
    if machine is not None and not known.grades:
        raise InvalidValueError(
            "The grades of the machine “%(name)s” are kept by a site: draw this sample there, with `annotator pool "
            "build`, or leave the machine out.",
            name=machine,
        )


@dataclass(frozen=True)
class FrameCounts:
    """Numbers of documents over all topics: that could be drawn, found otherwise, and not in the sample before."""

    documents: int
    found: int
    new: int


def count_frames(drawn: Mapping[int, Sequence[Stratum]], known: Known) -> FrameCounts:
    """Count the documents of the strata of each topic, by key."""
    documents = found = new = 0
    for topic, strata in drawn.items():
        of_topic = known.topics.get(topic, KnownOfTopic())
        frame = _documents(strata)
        documents += len(frame)
        found += len(set(of_topic.found.tolist()).intersection(frame))
        new += len(frame) - len(_documents(of_topic.earlier))
    return FrameCounts(documents, found, new)


def labels_in_frames(
    drawn: Mapping[int, Sequence[Stratum]], labels: Mapping[int, MachineGrades]
) -> list[tuple[int, int, int]]:
    """(topic, document, grade) of all documents of the strata that the machine has graded."""
    found: list[tuple[int, int, int]] = []
    for topic, strata in drawn.items():
        frame = np.concatenate([NONE, *(one.documents for one in strata)])
        grades, has_grade = labels.get(topic, NO_GRADES).look_up(frame)
        graded = frame[has_grade].tolist()
        found += zip([topic] * len(graded), graded, grades[has_grade].tolist(), strict=True)
    return found


def labels_fingerprint(lines: Sequence[tuple[str, str, int]]) -> str:
    """The SHA-256 of a machine's grades, (topic, docno, grade) of each document of the frame that it has graded.

    The lines are `topic docno grade`, sorted by the bytes of topic and docno, so that anybody can compute it again.
    """
    text = "".join(f"{topic} {docno} {grade}\n" for topic, docno, grade in sorted(lines))
    return sha256(text.encode()).hexdigest()
