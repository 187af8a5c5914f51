"""Scores files of runs against a file of qrels, and explains the measures; without any database."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from annotator.evaluation.metrics.evaluating import Evaluation, evaluate
from annotator.evaluation.metrics.explaining import MeasureHelp as MeasureHelp  # for commands, which import workflows
from annotator.evaluation.metrics.explaining import explain, explain_all
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.metrics.names import DEFAULT_MEASURES
from annotator.evaluation.metrics.scoring import Number
from annotator.evaluation.metrics.setting import Compat
from annotator.evaluation.metrics.trec_eval_output import measures_to_print, trec_eval_report

OFFICIAL = ("official",)  # what trec_eval prints when no measure is asked for

# By the name that people know it by: where its bytes are.
File = tuple[str, Path | bytes]


@dataclass(frozen=True)
class ScoringOptions:
    """How files are to be scored."""

    relevant_from: int = 1
    judged_only: bool = False
    compat: str = "10"
    lenient: bool = False
    workers: int | None = None  # None: one for each processor


@dataclass(frozen=True)
class ScoredRun:
    """One run: its values in the order of the measures, over all topics and for each topic."""

    name: str
    file: str
    values: tuple[Number, ...]
    by_topic: Mapping[str, tuple[Number, ...]]
    missing: tuple[str, ...]  # topics of the qrels for which it returned nothing
    other_topics: int  # topics of the run that the qrels do not have


@dataclass(frozen=True)
class ScoredRuns:
    """Runs scored, in the order of their files, and what should be known beside their scores."""

    measures: tuple[str, ...]
    topics: tuple[str, ...]  # all of the qrels; the averages are over them
    without_relevant: tuple[str, ...]
    runs: tuple[ScoredRun, ...]
    warnings: tuple[str, ...]


def score_files(qrels: File, runs: Sequence[File], measures: Sequence[str], options: ScoringOptions) -> ScoredRuns:
    """Score runs over all topics of the qrels, as trec_eval -c does.

    A run is named by its tag, and by its file too when several have the same. Raises `FileRefusedError` with every
    problem of every file, and `InvalidValueError` for unknown measures.
    """
    evaluation = _evaluate(qrels, runs, measures or DEFAULT_MEASURES, options)
    scores = evaluation.scores
    return ScoredRuns(
        measures=tuple(map(str, scores.measures)),
        topics=scores.topics,
        without_relevant=scores.without_relevant,
        runs=tuple(
            ScoredRun(
                name=tag if evaluation.runs.count(tag) == 1 else f"{tag} ({file})",
                file=file,
                values=scores.over_topics(index),
                by_topic=scores.by_topic(index),
                missing=scores.missing(index),
                other_topics=evaluation.other_topics[index],
            )
            for index, (tag, (file, _)) in enumerate(zip(evaluation.runs, runs, strict=True))
        ),
        warnings=_warnings(evaluation),
    )


def score_as_trec_eval(
    qrels: File, runs: Sequence[File], measures: Sequence[str], options: ScoringOptions
) -> tuple[str, tuple[str, ...]]:
    """Give what `trec_eval -c -q` prints for each run, one after the other, and the warnings.

    Raises as `score_files`, and `InvalidValueError` for a measure that trec_eval does not have.
    """
    asked = measures or OFFICIAL
    evaluation = _evaluate(qrels, runs, measures_to_print(asked, Compat(options.compat)), options)
    reports = [
        trec_eval_report(evaluation.scores, index, tag, asked, Compat(options.compat))
        for index, tag in enumerate(evaluation.runs)
    ]
    return "".join(reports), _warnings(evaluation)


def list_measures() -> dict[str, MeasureHelp]:
    """Explain every measure, by name."""
    return explain_all()


def explain_measure(written: str) -> MeasureHelp:
    """Explain one measure, named with or without a cutoff; raises `InvalidValueError` when there is none such."""
    return explain(written)


def _evaluate(
    qrels: File, runs: Sequence[File], measures: Sequence[str | Measure], options: ScoringOptions
) -> Evaluation:
    return evaluate(
        qrels,
        runs,
        measures,
        relevant_from=options.relevant_from,
        judged_only=options.judged_only,
        compat=options.compat,
        lenient=options.lenient,
        workers=options.workers or os.cpu_count() or 1,
    )


def _warnings(evaluation: Evaluation) -> tuple[str, ...]:
    return (*map(str, evaluation.notices), *map(str, evaluation.warnings))
