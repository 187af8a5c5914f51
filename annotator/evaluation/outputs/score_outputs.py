"""The formats in which scores of runs are written."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from annotator.evaluation.outputs.output_formats import OutputFormat, Writes

Number = int | float
ALL_TOPICS = "all"  # trec_eval's label for the mean
PARQUET = "parquet"


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


def tot(table: ScoreTable) -> str:
    """Run, measure, topic and value in four columns; a name with blanks, which would be several columns, has none."""
    return "".join(
        f"{_one_word(run)}\t{_one_word(measure)}\t{topic}\t{value}\n" for run, topic, measure, value in table.cells()
    )


def autojudge(table: ScoreTable) -> str:
    """One JSON object for each value, as in the files *.eval.jsonl of TREC AutoJudge."""
    keys = ("run_id", "topic_id", "measure", "value")
    return "".join(json.dumps(dict(zip(keys, cell, strict=True)), ensure_ascii=False) + "\n" for cell in table.cells())


def _one_word(name: str) -> str:
    return "_".join(name.split())


@dataclass(frozen=True, kw_only=True)
class ScoresFormat(OutputFormat):
    """How scores are written: `write` for those that have nothing but values."""

    write: Callable[[ScoreTable], str] | None = None


EVALUATE, LEADERBOARD = "evaluate", "leaderboard show"
BOTH = (EVALUATE, LEADERBOARD)
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
        commands=BOTH,
        test=OF_FILES,
    ),
    ScoresFormat(
        name="json",
        writes=Writes.SCORES,
        title="JSON",
        about="Programs: everything that is known of the scores, with exact values.",
        media="application/json",
        ending=".json",
        commands=BOTH,
        test=OF_FILES,
    ),
    ScoresFormat(
        name="tsv",
        writes=Writes.SCORES,
        title="tab-separated values",
        about="The columns of CSV.",
        media="text/tab-separated-values",
        ending=".tsv",
        commands=(EVALUATE,),
        test=OF_FILES,
    ),
    ScoresFormat(
        name="trec_eval",
        writes=Writes.SCORES,
        title="output of trec_eval",
        about="What reads trec_eval's output: that of `trec_eval -c -q` for each run, one after the other.",
        media="text/plain",
        ending=".eval",
        commands=(EVALUATE,),
        test=OF_FILES,
        example="map                   \tall\t0.5000\n",
    ),
    ScoresFormat(
        name="ir_measures",
        writes=Writes.SCORES,
        title="output of ir_measures",
        about="That of the command `ir_measures` for one run, with `--by-topic` of `ir_measures -q`.",
        media="text/plain",
        ending=".eval",
        commands=(EVALUATE,),
        test=OF_FILES,
        example="1\tnDCG@10\t0.5000\nall\tnDCG@10\t0.5000\n",
    ),
    ScoresFormat(
        name="tot",
        writes=Writes.SCORES,
        title="tot",
        about="TREC AutoJudge (`--eval-format tot` of `auto-judge-evaluate`): run, measure, topic, value; exact "
        "values, with `--by-topic` those of topics before those over `all`.",
        media="text/plain",
        ending=".tot",
        commands=BOTH,
        test=TEST,
        example="bm25\tnDCG@10\t1\t0.5\nbm25\tnDCG@10\tall\t0.5\n",
        write=tot,
    ),
    ScoresFormat(
        name="autojudge",
        writes=Writes.SCORES,
        title="AutoJudge's JSON lines",
        about="TREC AutoJudge (`--eval-format jsonl` of `auto-judge-evaluate`), as its `*.eval.jsonl`: an object for "
        "each value.",
        media="application/x-ndjson",
        ending=".eval.jsonl",
        commands=BOTH,
        test=TEST,
        example='{"run_id": "bm25", "topic_id": "all", "measure": "nDCG@10", "value": 0.5}\n',
        write=autojudge,
    ),
    ScoresFormat(
        name="jsonl",
        writes=Writes.SCORES,
        title="JSON lines",
        about="The rows of CSV as objects.",
        media="application/x-ndjson",
        ending=".jsonl",
        commands=(EVALUATE,),
        test=OF_FILES,
    ),
    ScoresFormat(
        name=PARQUET,
        writes=Writes.SCORES,
        title="Parquet",
        about="pandas, polars, DuckDB and Hugging Face's `datasets`: the columns of CSV, with numbers as numbers. "
        "Needs the extra `parquet`.",
        media="application/vnd.apache.parquet",
        ending=".parquet",
        commands=BOTH,
        test=OF_FILES,
    ),
    ScoresFormat(
        name="latex",
        writes=Writes.SCORES,
        title="LaTeX",
        about="Papers: a table for the package booktabs.",
        media="text/plain",
        ending=".tex",
        commands=BOTH,
        test=OF_BOARDS,
    ),
    ScoresFormat(
        name="markdown",
        writes=Writes.SCORES,
        title="Markdown",
        about="Papers and pages: a table.",
        media="text/plain",
        ending=".md",
        commands=BOTH,
        test=OF_BOARDS,
    ),
)
# What consists of values alone, from whatever they are scored.
OF_VALUES = {one.name: one.write for one in SCORE_OUTPUTS if one.write is not None}
