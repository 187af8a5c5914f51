"""Scores of run files in any format; without a database."""

import json
from collections.abc import Callable, Iterator, Sequence

from annotator.errors import InvalidValueError
from annotator.evaluation.formats.columnar import parquet_of
from annotator.evaluation.formats.printed_tables import latex_table, markdown_table
from annotator.evaluation.metrics.names import parse_measure
from annotator.evaluation.outputs.score_outputs import ALL_TOPICS, OF_VALUES, PARQUET, RunScores, ScoreTable
from annotator.spreadsheets import csv_text
from annotator.workflows.leaderboard.scoring import ScoredRuns, ScoringOptions

TAB = "\t"
Cell = str | int | float
# Headings and rows.
Columns = tuple[Sequence[str], Sequence[Sequence[Cell]]]


def scores_of_files(scored: ScoredRuns, options: ScoringOptions, format_name: str, *, per_topic: bool) -> bytes:
    """The scores of run files in a format of `evaluate`, but those of JSON and trec_eval.

    Raises `InvalidValueError` for scores that the format cannot hold, and for Parquet without pyarrow.
    """
    if format_name in OF_VALUES:
        return OF_VALUES[format_name](_table(scored, per_topic=per_topic)).encode()
    if format_name == PARQUET:
        return parquet_of(*exact_columns(scored, options, per_topic=per_topic))
    return _TEXTS[format_name](scored, options, per_topic).encode()


def exact_columns(scored: ScoredRuns, options: ScoringOptions, *, per_topic: bool) -> Columns:
    """Headings and rows with values in full precision, followed by the columns that describe the scoring."""
    if per_topic:
        return ["run", "topic", *scored.measures], list(topic_rows(scored))
    counts = len(scored.topics), len(scored.without_relevant)
    return (
        ["run", *scored.measures, "topics", "topics_without_relevant", "topics_missing", "file", "qrels", "compat"],
        [
            [run.tag, *run.values, *counts, len(run.missing), run.file, scored.qrels, options.compat]
            for run in scored.runs
        ],
    )


def topic_rows(scored: ScoredRuns) -> Iterator[Sequence[Cell]]:
    """One row per run and topic, followed by the mean of the run, as in trec_eval."""
    for run in scored.runs:
        for topic in scored.topics:
            yield [run.name, topic, *run.by_topic[topic]]
        yield [run.name, ALL_TOPICS, *run.values]


def _separated(separator: str) -> Callable[[ScoredRuns, ScoringOptions, bool], str]:
    def text(scored: ScoredRuns, options: ScoringOptions, per_topic: bool) -> str:  # noqa: FBT001 - the type of all writers
        headings, rows = exact_columns(scored, options, per_topic=per_topic)
        return csv_text([headings, *rows], separator=separator)

    return text


def _json_lines(scored: ScoredRuns, options: ScoringOptions, per_topic: bool) -> str:  # noqa: FBT001 - the type of all writers
    headings, rows = exact_columns(scored, options, per_topic=per_topic)
    return "".join(json.dumps(dict(zip(headings, row, strict=True)), ensure_ascii=False) + "\n" for row in rows)


def _for_paper(
    write: Callable[[Sequence[str], Sequence[Sequence[str]], range], str],
) -> Callable[[ScoredRuns, ScoringOptions, bool], str]:
    """The scores as a table with four decimals."""

    def text(scored: ScoredRuns, _options: ScoringOptions, per_topic: bool) -> str:  # noqa: FBT001 - the type of all writers
        headings = ["run", *(["topic"] if per_topic else []), *scored.measures]
        rows = [
            [run.name, *topic, *(f"{value:.4f}" if isinstance(value, float) else str(value) for value in values)]
            for run in scored.runs
            for topic, values in (
                [([topic], run.by_topic[topic]) for topic in scored.topics] if per_topic else [([], run.values)]
            )
        ]
        return write(headings, rows, range(2 if per_topic else 1, len(headings)))

    return text


def _as_ir_measures(scored: ScoredRuns, _options: ScoringOptions, per_topic: bool) -> str:  # noqa: FBT001 - the type of all writers
    """The output of the command ir_measures, with -q if `per_topic`, for one run.

    Raises `InvalidValueError` for several runs, whose lines could not be told apart.
    """
    if len(scored.runs) > 1:
        raise InvalidValueError("The format ir_measures is for one run; there are %(runs)d.", runs=len(scored.runs))
    names = {name: parse_measure(name).in_ir_measures for name in scored.measures}
    return "".join(
        f"{topic}\t{names[measure]}\t{value:.4f}\n" if per_topic else f"{names[measure]}\t{value:.4f}\n"
        for _, topic, measure, value in _table(scored, per_topic=per_topic).cells()
    )


def _table(scored: ScoredRuns, *, per_topic: bool) -> ScoreTable:
    runs = [
        RunScores(run.name, {topic: run.by_topic[topic] for topic in scored.topics} if per_topic else {}, run.values)
        for run in scored.runs
    ]
    return ScoreTable(scored.measures, runs)


_TEXTS: dict[str, Callable[[ScoredRuns, ScoringOptions, bool], str]] = {
    "csv": _separated(","),
    "tsv": _separated(TAB),
    "jsonl": _json_lines,
    "ir_measures": _as_ir_measures,
    "latex": _for_paper(latex_table),
    "markdown": _for_paper(markdown_table),
}
