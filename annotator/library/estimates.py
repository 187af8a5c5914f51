"""Scores estimated from a sample of judgements."""

from dataclasses import dataclass

from annotator.errors import InvalidValueError, Problems
from annotator.evaluation.estimation.estimated_tables import (
    PAIR_COLUMNS,
    TableEstimates,
    check_estimated,
    estimate_table,
)
from annotator.evaluation.estimation.estimates import Estimates
from annotator.evaluation.formats.unpacking import read_text
from annotator.evaluation.metrics.inputs import named
from annotator.evaluation.metrics.names import parse_measure
from annotator.evaluation.qrels.qrels_format import QrelsRow
from annotator.evaluation.qrels.qrels_table import QrelsTable, columns_of, read_qrels, table_of_columns
from annotator.library import inputs
from annotator.library.inputs import DOCNO, GRADE, TOPIC, Given, grades_of, is_file, lists_by_run
from annotator.library.tables import Table

STRATUM = ("stratum",)


@dataclass(frozen=True, repr=False)
class EstimatedScores(Table):
    """A row for each run: its estimate, and 95 % intervals for these topics and, `_in_all`, for all topics like them.

    `by_draw` is the share of the latter's variance that comes from the draw of documents, `outside` the share of the
    run's documents, as deep as the measure looks, from which nothing could be drawn. With a machine `people` is the
    estimate without it, with its interval, and `machine` the score by its grades alone, which is as biased as they are.
    """

    found: TableEstimates | None = None

    @property
    def estimates(self) -> Estimates | None:
        """The estimates as arrays."""
        return None if self.found is None else self.found.estimates

    @property
    def differences(self) -> Table:
        """A row for each two runs: the difference of their estimates with a 95 % interval, p, and p by Holm."""
        if self.found is None:
            return Table(PAIR_COLUMNS, ())
        columns, rows = self.found.table(of_pairs=True)
        return Table(columns, tuple(rows))


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
    check_estimated(wanted, relevant_from, by_machine=machine is not None)
    table, lists = _sample_of(sample), lists_by_run(runs)
    labels = None if machine is None else grades_of(machine, "machine")
    found = estimate_table(table, lists, wanted, labels, relevant_from)
    columns, rows = found.table()
    return EstimatedScores(columns, tuple(rows), found.notes, found)


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
