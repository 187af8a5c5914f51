"""Estimates from a table of sampled judgements and parsed runs, as rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError
from annotator.evaluation.estimation.estimated_measures import estimated_measure
from annotator.evaluation.estimation.estimates import Differences, Estimates, differences
from annotator.evaluation.estimation.estimates import estimate as estimate_means
from annotator.evaluation.estimation.jackknife import Scale, ScoredTopic, is_jackknifed, jackknifed_estimates
from annotator.evaluation.estimation.sampled_topic import UNKNOWN, FrameRanks, SampledTopic, Values
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.qrels.qrels_table import QrelsTable
from annotator.evaluation.runs.parsed_runs import ParsedList

Graded = Mapping[str, Mapping[str, int]]
Lists = Mapping[str, ParsedList]
Cell = str | float | None
COLUMNS = ("run", "estimate", "low", "high", "low_in_all", "high_in_all", "by_draw", "outside")
OF_MACHINE = ("people", "people_low", "people_high", "machine")
PAIR_COLUMNS = ("first", "second", "difference", "low", "high", "p", "p_holm")


@dataclass(frozen=True, eq=False)
class TableEstimates:
    """Estimates of runs, the share of each run's documents outside the sample, and notes on topics left out."""

    runs: tuple[str, ...]
    estimates: Estimates
    outside: Values
    notes: tuple[str, ...]

    def table(self, *, of_pairs: bool = False) -> tuple[tuple[str, ...], list[tuple[Cell, ...]]]:
        """Headings and a row for each run, or for each two runs."""
        if of_pairs:
            return PAIR_COLUMNS, list(_rows_of_pairs(self.runs, differences(self.estimates.together)))
        columns = COLUMNS if self.estimates.people is None else (*COLUMNS, *OF_MACHINE)
        return columns, list(_rows(self.runs, self.estimates, self.outside))


def check_estimated(measure: Measure, relevant_from: int, *, by_machine: bool) -> None:
    """Raise `InvalidValueError` for a measure that cannot be estimated from a sample, or not with a machine."""
    if not is_jackknifed(measure):
        estimated_measure(measure, relevant_from)
    elif by_machine:
        raise InvalidValueError(
            "%(measure)s is estimated from people's judgements alone: give no machine.", measure=str(measure)
        )


def estimate_table(
    table: QrelsTable, runs: Mapping[str, Lists], measure: Measure, machine: Graded | None, relevant_from: int
) -> TableEstimates:
    """Estimate a measure for each run from a sample, as `check_estimated` allows.

    `table` has all documents that could be drawn, below 0 those that were not; without strata there is one a topic.
    `machine` has a machine's grade of each. Raises `InvalidValueError` for documents without one, and when nothing can
    be estimated.
    """
    lists = list(runs.values())
    built = [_topic(table, place, lists, machine, measure) for place in range(len(table.topics))]
    if is_jackknifed(measure):
        scale = Scale(relevant_from, best_grade=max(int(table.grades.max(initial=0)), 1))
        scored = [_scored(table, place, lists, topic, measure) for place, (topic, _) in enumerate(built)]
        found = jackknifed_estimates(scored, measure, scale)
    else:
        found = estimate_means([topic for topic, _ in built], estimated_measure(measure, relevant_from))
    if found is None:
        raise InvalidValueError(
            "Nothing can be estimated: every topic has a stratum without a judged document, or a sample without a "
            "relevant document."
        )
    outside: Values = np.array([ranks.outside for _, ranks in built]).mean(axis=0)
    return TableEstimates(tuple(runs), found, outside, tuple(_notes(table.topics, found)))


def _topic(
    table: QrelsTable, place: int, runs: Sequence[Lists], machine: Graded | None, measure: Measure
) -> tuple[SampledTopic, FrameRanks]:
    entries = slice(int(table.first[place]), int(table.first[place + 1]))
    topic, docnos, grades = table.topics[place], table.docnos[entries], table.grades[entries]
    strata = np.zeros(grades.size, np.intp) if table.strata is None else table.strata[entries].astype(np.intp)
    ranks = FrameRanks.of(docnos, _rankings(runs, topic), _depth(measure))
    labels = None if machine is None else _labels(topic, docnos, machine.get(topic, {}))
    return SampledTopic(strata, ranks.ranks, np.where(grades < 0, UNKNOWN, grades), labels), ranks


def _scored(
    table: QrelsTable, place: int, runs: Sequence[Lists], sampled: SampledTopic, measure: Measure
) -> ScoredTopic:
    """Number the documents of a topic, and rank them in each run as deep as the measure looks."""
    docnos = table.docnos[int(table.first[place]) : int(table.first[place + 1])]
    rankings = [one[: _depth(measure)] for one in _rankings(runs, table.topics[place])]
    _, numbers = np.unique(np.concatenate([docnos, *rankings]), return_inverse=True)
    documents, *ranked = np.split(
        numbers.astype(np.int32), np.cumsum([docnos.size, *(one.size for one in rankings)])[:-1]
    )
    return ScoredTopic(sampled, documents, ranked)


def _rankings(runs: Sequence[Lists], topic: str) -> list[NDArray[np.bytes_]]:
    """The docnos of each run, best first; none of a run without the topic."""
    empty = np.zeros(0, "S1")
    return [lists[topic].docnos if topic in lists else empty for lists in runs]


def _depth(measure: Measure) -> int | None:
    return None if measure.cutoff is None else int(measure.cutoff)


def _labels(topic: str, docnos: NDArray[np.bytes_], graded: Mapping[str, int]) -> NDArray[np.int16]:
    named_docnos = [bytes(docno).decode() for docno in docnos]
    missing = [docno for docno in named_docnos if docno not in graded]
    if missing:
        raise InvalidValueError(
            "The machine has no grade for %(count)d documents of topic %(topic)s from which the sample was drawn, "
            "such as %(docno)s.",
            count=len(missing),
            topic=topic,
            docno=missing[0],
        )
    return np.array([graded[docno] for docno in named_docnos], np.int16)


def _rows(runs: Sequence[str], found: Estimates, outside: Values) -> Iterator[tuple[Cell, ...]]:
    together, people, machine = found.together, found.people, found.machine
    for place, run in enumerate(runs):
        value, half = float(together.values[place]), float(together.half_widths[place])
        in_all = together.half_widths_in_all
        shares = together.shares_of_draw
        row: tuple[Cell, ...] = (
            *(run, value, *_ends(value, half)),
            *((None, None) if in_all is None else (value - float(in_all[place]), value + float(in_all[place]))),
            *(None if shares is None else _known(float(shares[place])), float(outside[place])),
        )
        if people is not None and machine is not None:
            alone, width = float(people.values[place]), float(people.half_widths[place])
            row = (*row, alone, *_ends(alone, width), float(machine[place]))
        yield row


def _ends(value: float, half: float) -> tuple[float | None, float | None]:
    """The interval, without ends where there is none."""
    return _known(value - half), _known(value + half)


def _known(value: float) -> float | None:
    return None if isnan(value) else value


def _rows_of_pairs(runs: Sequence[str], compared: Differences) -> Iterator[tuple[Cell, ...]]:
    above = zip(*(side.tolist() for side in np.triu_indices(len(runs), 1)), strict=True)
    for first, second in above:
        value, half = float(compared.values[first, second]), float(compared.half_widths[first, second])
        p_values = (one.of(first, second).value for one in (compared.p, compared.corrected))
        yield (runs[first], runs[second], value, *_ends(value, half), *p_values)


def _notes(topics: Sequence[str], found: Estimates) -> Iterator[str]:
    of = partial(_listed, topics)
    if found.unsampled:
        yield f"Left out, since nothing of a stratum is judged: {of(found.unsampled)}"
    if found.undefined:
        yield f"Left out, since the sample has no relevant document: {of(found.undefined)}"
    if found.without_variance:
        yield f"There is no interval, since a single document was drawn: {of(found.without_variance)}"


def _listed(topics: Sequence[str], places: Sequence[int]) -> str:
    return ", ".join(topics[place] for place in places)
