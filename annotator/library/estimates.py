"""Scores estimated from a sample of judgements."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError, Problems
from annotator.evaluation.estimation.estimated_measures import estimated_measure
from annotator.evaluation.estimation.estimates import Differences, Estimates, differences
from annotator.evaluation.estimation.estimates import estimate as estimate_means
from annotator.evaluation.estimation.jackknife import Scale, ScoredTopic, is_jackknifed, jackknifed_estimates
from annotator.evaluation.estimation.sampled_topic import UNKNOWN, FrameRanks, SampledTopic, Values
from annotator.evaluation.formats.unpacking import read_text
from annotator.evaluation.metrics.inputs import named
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.metrics.names import parse_measure
from annotator.evaluation.qrels.qrels_format import QrelsRow
from annotator.evaluation.qrels.qrels_table import QrelsTable, columns_of, read_qrels, table_of_columns
from annotator.evaluation.runs.parsed_runs import ParsedList
from annotator.library import inputs
from annotator.library.inputs import DOCNO, GRADE, TOPIC, Given, grades_of, is_file, lists_by_run
from annotator.library.tables import Cell, Table

STRATUM = ("stratum",)
Graded = Mapping[str, Mapping[str, int]]
COLUMNS = ("run", "estimate", "low", "high", "low_in_all", "high_in_all", "by_draw", "outside")


@dataclass(frozen=True, repr=False)
class EstimatedScores(Table):
    """A row for each run: its estimate, and 95 % intervals for these topics and, `_in_all`, for all topics like them.

    `by_draw` is the share of the latter's variance that comes from the draw of documents, `outside` the share of the
    run's documents, as deep as the measure looks, from which nothing could be drawn. With a machine `people` is the
    estimate without it, with its interval, and `machine` the score by its grades alone, which is as biased as they are.
    """

    estimates: Estimates | None = None

    @property
    def differences(self) -> Table:
        """A row for each two runs: the difference of their estimates with a 95 % interval, p, and p by Holm."""
        if self.estimates is None:
            return Table(("first", "second", "difference", "low", "high", "p", "p_holm"), ())
        compared = differences(self.estimates.together)
        rows = _rows_of_pairs([str(run) for run in self.column("run")], compared)
        return Table(("first", "second", "difference", "low", "high", "p", "p_holm"), tuple(rows))


def estimate(
    sample: Given, runs: Given, measure: Given = "nDCG@10", *, machine: Given = None, relevant_from: int = 1
) -> EstimatedScores:
    """Estimate the mean of a measure over topics from a random sample of judgements.

    `sample` has all documents that could be drawn, with their strata: a file of five columns (prels), or a frame with
    the columns topic, docno, stratum and grade; -1 is for documents that were not drawn. Without strata there is one a
    topic. `machine` are a machine's grades of all these documents, as qrels; runs are as of `evaluate`. Measures are
    P, R, AP, CG, DCG, nDCG and RBP, and without a machine xinfAP and infNDCG. Raises `InvalidValueError` for another
    one, for documents without a grade of the machine, and when nothing can be estimated; `FileRefusedError` for files
    with problems.
    """
    wanted = parse_measure(str(measure))
    how = None if is_jackknifed(wanted) else estimated_measure(wanted, relevant_from)
    if how is None and machine is not None:
        raise InvalidValueError(
            "%(measure)s is estimated from people's judgements alone: give no machine.", measure=str(wanted)
        )
    table, lists = _sample_of(sample), lists_by_run(runs)
    labels = None if machine is None else grades_of(machine, "machine")
    built = [_topic(table, place, list(lists.values()), labels, wanted) for place in range(len(table.topics))]
    if how is None:
        scale = Scale(relevant_from, best_grade=max(int(table.grades.max(initial=0)), 1))
        scored = [_scored(table, place, list(lists.values()), topic, wanted) for place, (topic, _) in enumerate(built)]
        found = jackknifed_estimates(scored, wanted, scale)
    else:
        found = estimate_means([topic for topic, _ in built], how)
    if found is None:
        raise InvalidValueError(
            "Nothing can be estimated: every topic has a stratum without a judged document, or a sample without a "
            "relevant document."
        )
    outside: Values = np.array([ranks.outside for _, ranks in built]).mean(axis=0)
    columns = (*COLUMNS, *(() if machine is None else ("people", "people_low", "people_high", "machine")))
    rows = _rows(list(lists), found, outside)
    return EstimatedScores(columns, tuple(rows), tuple(_notes(table.topics, found)), found)


def _sample_of(given: Given) -> QrelsTable:
    if is_file(given):
        problems = Problems()
        shown, source = named(given)
        text = read_text(problems, shown, source)
        table = None if text is None else read_qrels(shown, text, problems)
        problems.report_if_any()
        if table is None:
            raise InvalidValueError("%(name)s could not be read.", name="sample")
        return table
    if isinstance(given, QrelsTable):
        return given
    topics, docnos, strata, grades = inputs.columns_of(given, "sample", TOPIC, DOCNO, STRATUM, GRADE)
    inputs.grouped(topics, docnos, grades)  # refuses a document that is in a topic twice
    rows = enumerate(zip(topics, docnos, grades, strata, strict=True), 1)
    return table_of_columns(
        columns_of(
            QrelsRow(topic, docno, int(grade), row, str(stratum)) for row, (topic, docno, grade, stratum) in rows
        )
    )


def _topic(
    table: QrelsTable, place: int, runs: Sequence[Mapping[str, ParsedList]], machine: Graded | None, measure: Measure
) -> tuple[SampledTopic, FrameRanks]:
    entries = slice(int(table.first[place]), int(table.first[place + 1]))
    topic, docnos, grades = table.topics[place], table.docnos[entries], table.grades[entries]
    strata = np.zeros(grades.size, np.intp) if table.strata is None else table.strata[entries].astype(np.intp)
    ranks = FrameRanks.of(docnos, _rankings(runs, topic), _depth(measure))
    labels = None if machine is None else _labels(topic, docnos, machine.get(topic, {}))
    return SampledTopic(strata, ranks.ranks, np.where(grades < 0, UNKNOWN, grades), labels), ranks


def _scored(
    table: QrelsTable, place: int, runs: Sequence[Mapping[str, ParsedList]], sampled: SampledTopic, measure: Measure
) -> ScoredTopic:
    """Number the documents of a topic, and rank them in each run as deep as the measure looks."""
    docnos = table.docnos[int(table.first[place]) : int(table.first[place + 1])]
    rankings = [one[: _depth(measure)] for one in _rankings(runs, table.topics[place])]
    _, numbers = np.unique(np.concatenate([docnos, *rankings]), return_inverse=True)
    documents, *ranked = np.split(
        numbers.astype(np.int32), np.cumsum([docnos.size, *(one.size for one in rankings)])[:-1]
    )
    return ScoredTopic(sampled, documents, ranked)


def _rankings(runs: Sequence[Mapping[str, ParsedList]], topic: str) -> list[NDArray[np.bytes_]]:
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
