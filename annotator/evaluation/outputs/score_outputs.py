"""The formats in which scores of runs are written.

The commands take their choices from here, so what needs NumPy is imported when such scores are written.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module

from annotator.errors import InvalidValueError
from annotator.evaluation.formats.columnar import parquet_of
from annotator.evaluation.outputs.output_formats import OutputFormat, Writes
from annotator.spreadsheets import csv_text

Number = int | float
Cell = str | int | float | None
# Headings and rows.
Columns = tuple[Sequence[str], Sequence[Sequence[Cell]]]
ALL_TOPICS = "all"  # trec_eval's label for the mean
TREC_EVAL = "trec_eval"
TAB = "\t"


@dataclass(frozen=True)
class RunScores:
    """The values of one run in the order of the measures: of each topic, where these are wanted, and over all."""

    run: str
    by_topic: Mapping[str, Sequence[Number]]
    values: Sequence[Number]


@dataclass(frozen=True)
class ScoreTable:
    """The scores of runs by several measures."""

    measures: Sequence[str]
    runs: Sequence[RunScores]

    def cells(self) -> Iterator[tuple[str, str, str, Number]]:
        """Run, topic, measure and value of each cell; the values over all topics follow those of a run's topics."""
        for one in self.runs:
            for topic, values in (*one.by_topic.items(), (ALL_TOPICS, one.values)):
                for measure, value in zip(self.measures, values, strict=True):
                    yield one.run, topic, measure, value


Writer = Callable[[ScoreTable, Columns], bytes]


def tot(table: ScoreTable) -> str:
    """Run, measure, topic and value in four columns; a name with blanks, which would be several columns, has none."""
    return "".join(
        f"{_one_word(run)}\t{_one_word(measure)}\t{topic}\t{value}\n" for run, topic, measure, value in table.cells()
    )


def autojudge(table: ScoreTable) -> str:
    """One JSON object for each value, as in the files *.eval.jsonl of TREC AutoJudge."""
    keys = ("run_id", "topic_id", "measure", "value")
    return "".join(json.dumps(dict(zip(keys, cell, strict=True)), ensure_ascii=False) + "\n" for cell in table.cells())


def trec_eval(table: ScoreTable) -> str:
    """A block in trec_eval's form for each run, which `runid` names, as several tools read one run from it.

    Raises `InvalidValueError` for a measure that trec_eval does not have.
    """
    trec_eval_lines = import_module("annotator.evaluation.metrics.trec_eval_output").trec_eval_lines
    return "".join(trec_eval_lines(one.run, table.measures, one.by_topic, one.values) for one in table.runs)


def ir_measures(table: ScoreTable) -> str:
    """The output of the command ir_measures for one run, that of its option -q where there are values by topic.

    Raises `InvalidValueError` for several runs, whose lines could not be told apart.
    """
    if len(table.runs) > 1:
        raise InvalidValueError("The format ir_measures is for one run; there are %(runs)d.", runs=len(table.runs))
    parse_measure = import_module("annotator.evaluation.metrics.names").parse_measure
    names = {name: parse_measure(name).in_ir_measures for name in table.measures}
    by_topic = any(one.by_topic for one in table.runs)
    return "".join(
        f"{topic}\t{names[measure]}\t{value:.4f}\n" if by_topic else f"{names[measure]}\t{value:.4f}\n"
        for _, topic, measure, value in table.cells()
    )


def _one_word(name: str) -> str:
    return "_".join(name.split())


def _separated(_values: ScoreTable, columns: Columns, separator: str = ",") -> bytes:
    headings, rows = columns
    return csv_text([headings, *rows], separator=separator).encode()


def _json_lines(_values: ScoreTable, columns: Columns) -> bytes:
    headings, rows = columns
    lines = (json.dumps(dict(zip(headings, row, strict=True)), ensure_ascii=False) + "\n" for row in rows)
    return "".join(lines).encode()


def _parquet(_values: ScoreTable, columns: Columns) -> bytes:
    return parquet_of(*columns)


def _of_values(write: Callable[[ScoreTable], str]) -> Writer:
    return lambda values, _columns: write(values).encode()


@dataclass(frozen=True, kw_only=True)
class ScoresFormat(OutputFormat):
    """How scores are written; None for JSON and the tables for papers, which each command has of its own."""

    write: Writer | None = None


COMMANDS = ("evaluate", "leaderboard show")
TEST = "tests/evaluation/outputs/test_score_outputs.py"
OF_FILES = "tests/cli/leaderboard/test_evaluate.py"
OF_BOARDS = "tests/cli/leaderboard/test_results.py"
SCORE_OUTPUTS = (
    ScoresFormat(
        name="csv",
        writes=Writes.SCORES,
        title="CSV",
        about="pandas, polars, R and spreadsheets: a row for each run, with `--by-topic` for each run and topic; exact "
        "values.",
        media="text/csv",
        ending=".csv",
        commands=COMMANDS,
        test=OF_FILES,
        write=_separated,
    ),
    ScoresFormat(
        name="json",
        writes=Writes.SCORES,
        title="JSON",
        about="Programs: everything that is known of the scores, with exact values.",
        media="application/json",
        ending=".json",
        commands=COMMANDS,
        test=OF_FILES,
    ),
    ScoresFormat(
        name="tsv",
        writes=Writes.SCORES,
        title="tab-separated values",
        about="The columns of CSV.",
        media="text/tab-separated-values",
        ending=".tsv",
        commands=COMMANDS,
        test=OF_FILES,
        write=partial(_separated, separator=TAB),
    ),
    ScoresFormat(
        name=TREC_EVAL,
        writes=Writes.SCORES,
        title="output of trec_eval",
        about="What reads trec_eval's output: that of `trec_eval -c -q` for each run, one after the other. A "
        "leaderboard has `runid` for each run, and is as trec_eval 10 prints it.",
        media="text/plain",
        ending=".eval",
        commands=COMMANDS,
        test=OF_FILES,
        example="map                   \tall\t0.5000\n",
        write=_of_values(trec_eval),
    ),
    ScoresFormat(
        name="sample_eval",
        writes=Writes.SCORES,
        title="output of sample_eval.pl",
        about="What reads the output of NIST's script for stratified samples: that of `sample_eval.pl -q` for each "
        "run, one after the other. Qrels have five columns.",
        media="text/plain",
        ending=".eval",
        commands=("evaluate",),
        test=OF_FILES,
        example="infAP\t\tall\t\t0.5000\n",
    ),
    ScoresFormat(
        name="ir_measures",
        writes=Writes.SCORES,
        title="output of ir_measures",
        about="That of the command `ir_measures` for one run, with `--by-topic` of `ir_measures -q`.",
        media="text/plain",
        ending=".eval",
        commands=COMMANDS,
        test=OF_FILES,
        example="1\tnDCG@10\t0.5000\nall\tnDCG@10\t0.5000\n",
        write=_of_values(ir_measures),
    ),
    ScoresFormat(
        name="tot",
        writes=Writes.SCORES,
        title="tot",
        about="TREC AutoJudge (`--eval-format tot` of `auto-judge-evaluate`): run, measure, topic, value; exact "
        "values, with `--by-topic` those of topics before those over `all`.",
        media="text/plain",
        ending=".tot",
        commands=COMMANDS,
        test=TEST,
        example="bm25\tnDCG@10\t1\t0.5\nbm25\tnDCG@10\tall\t0.5\n",
        write=_of_values(tot),
    ),
    ScoresFormat(
        name="autojudge",
        writes=Writes.SCORES,
        title="AutoJudge's JSON lines",
        about="TREC AutoJudge (`--eval-format jsonl` of `auto-judge-evaluate`), as its `*.eval.jsonl`: an object for "
        "each value.",
        media="application/x-ndjson",
        ending=".eval.jsonl",
        commands=COMMANDS,
        test=TEST,
        example='{"run_id": "bm25", "topic_id": "all", "measure": "nDCG@10", "value": 0.5}\n',
        write=_of_values(autojudge),
    ),
    ScoresFormat(
        name="jsonl",
        writes=Writes.SCORES,
        title="JSON lines",
        about="The rows of CSV as objects.",
        media="application/x-ndjson",
        ending=".jsonl",
        commands=COMMANDS,
        test=OF_FILES,
        write=_json_lines,
    ),
    ScoresFormat(
        name="parquet",
        writes=Writes.SCORES,
        title="Parquet",
        about="pandas, polars, DuckDB and Hugging Face's `datasets`: the columns of CSV, with numbers as numbers. "
        "Needs the extra `parquet`.",
        media="application/vnd.apache.parquet",
        ending=".parquet",
        commands=COMMANDS,
        test=OF_FILES,
        write=_parquet,
    ),
    ScoresFormat(
        name="latex",
        writes=Writes.SCORES,
        title="LaTeX",
        about="Papers: a table for the package booktabs.",
        media="text/plain",
        ending=".tex",
        commands=COMMANDS,
        test=OF_BOARDS,
    ),
    ScoresFormat(
        name="markdown",
        writes=Writes.SCORES,
        title="Markdown",
        about="Papers and pages: a table.",
        media="text/plain",
        ending=".md",
        commands=COMMANDS,
        test=OF_BOARDS,
    ),
)
WRITERS = {one.name: one.write for one in SCORE_OUTPUTS if one.write is not None}


def scores_as(format_name: str, values: ScoreTable, columns: Columns) -> bytes:
    """Scores in one of the formats of `WRITERS`, as their values or as all columns of a command.

    Raises `InvalidValueError` for scores that the format cannot hold, and for Parquet without pyarrow.
    """
    return WRITERS[format_name](values, columns)
