"""Scores of run files in any format; without a database."""

from collections.abc import Callable, Iterator, Sequence

from annotator.evaluation.formats.printed_tables import latex_table, markdown_table
from annotator.evaluation.outputs.score_outputs import ALL_TOPICS, Columns, RunScores, ScoreTable, scores_as
from annotator.workflows.leaderboard.scoring import ScoredRuns, ScoringOptions

Cell = str | int | float
PaperTable = Callable[[Sequence[str], Sequence[Sequence[str]], range], str]
FOR_PAPERS: dict[str, PaperTable] = {"latex": latex_table, "markdown": markdown_table}


def scores_of_files(scored: ScoredRuns, options: ScoringOptions, format_name: str, *, per_topic: bool) -> bytes:
    """The scores of run files in a format of `evaluate`, but those of JSON and trec_eval.

    Raises `InvalidValueError` for scores that the format cannot hold, and for Parquet without pyarrow.
    """
    if format_name in FOR_PAPERS:
        return _for_paper(FOR_PAPERS[format_name], scored, per_topic=per_topic).encode()
    values, columns = _table(scored, per_topic=per_topic), exact_columns(scored, options, per_topic=per_topic)
    return scores_as(format_name, values, columns)


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


def _for_paper(write: PaperTable, scored: ScoredRuns, *, per_topic: bool) -> str:
    """The scores as a table with four decimals."""
    headings = ["run", *(["topic"] if per_topic else []), *scored.measures]
    rows = [
        [run.name, *topic, *(f"{value:.4f}" if isinstance(value, float) else str(value) for value in values)]
        for run in scored.runs
        for topic, values in (
            [([topic], run.by_topic[topic]) for topic in scored.topics] if per_topic else [([], run.values)]
        )
    ]
    return write(headings, rows, range(2 if per_topic else 1, len(headings)))


def _table(scored: ScoredRuns, *, per_topic: bool) -> ScoreTable:
    runs = [
        RunScores(run.name, {topic: run.by_topic[topic] for topic in scored.topics} if per_topic else {}, run.values)
        for run in scored.runs
    ]
    return ScoreTable(scored.measures, runs)
