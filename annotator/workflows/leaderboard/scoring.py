"""Scoring of run files against a qrels file, and help on measures; without a database."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath

from annotator.errors import InvalidValueError
from annotator.evaluation.formats.unpacking import read_stream as read_stream
from annotator.evaluation.inspection.scored_files import FilesCompared, compare_scored
from annotator.evaluation.metrics.evaluating import Evaluation, evaluate
from annotator.evaluation.metrics.inputs import DETECTED, FileFormats
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.metrics.names import DEFAULT_MEASURES, MeasureHelp, explain, explain_all, parse_measures
from annotator.evaluation.metrics.parameters import PARAMETERS
from annotator.evaluation.metrics.sample_eval import sample_eval_report, sampled_rankings
from annotator.evaluation.metrics.scoring import Number
from annotator.evaluation.metrics.setting import Compat
from annotator.evaluation.metrics.trec_eval_output import measures_to_print, trec_eval_report

OFFICIAL = ("official",)  # what trec_eval prints by default

ALL_OF_TREC_EVAL = "all_trec"
WITHOUT_RBP = (
    "The lines rbp and rbp_resid are left out: what trec_eval prints there is not what they are defined to be."
)

# display name → path
File = tuple[str, Path | bytes]


@dataclass(frozen=True)
class ScoringOptions:
    """Options of scoring run files."""

    relevant_from: int = 1
    judged_only: bool = False
    compat: str = "10"
    lenient: bool = False
    workers: int | None = None  # None: one per processor
    formats: FileFormats = DETECTED


@dataclass(frozen=True)
class ScoredRun:
    """One run: its values in the order of the measures, over all topics and by topic."""

    tag: str
    file: str
    name: str  # the tag, with the file name when several runs have that tag
    values: tuple[Number, ...]
    by_topic: Mapping[str, tuple[Number, ...]]
    missing: tuple[str, ...]  # topics of the qrels without results
    other_topics: int  # topics of the run that are not in the qrels


@dataclass(frozen=True)
class ScoredRuns:
    """Scored runs in the order of their files, with warnings on the scores."""

    qrels: str
    measures: tuple[str, ...]  # including the options that apply to all, such as AP(rel=2)
    topics: tuple[str, ...]  # all of the qrels; the averages are over them
    without_relevant: tuple[str, ...]  # no document with a grade that counts as relevant
    runs: tuple[ScoredRun, ...]
    warnings: tuple[str, ...]
    evaluation: Evaluation = field(repr=False, compare=False)


def score_files(qrels: File, runs: Sequence[File], measures: Sequence[str], options: ScoringOptions) -> ScoredRuns:
    """Score runs over all topics of the qrels, as trec_eval -c does.

    Raises `FileRefusedError` with the problems of every file, and `InvalidValueError` for unknown measures and for a
    run given twice, whose two rows could not be told apart.
    """
    asked = [_as_scored(measure, options) for measure in parse_measures(measures or DEFAULT_MEASURES)]
    evaluation = _evaluate(qrels, runs, asked, options)
    scores = evaluation.scores
    files = _short_names([file for file, _ in runs])
    return ScoredRuns(
        qrels=qrels[0],
        measures=tuple(map(str, scores.measures)),
        topics=scores.topics,
        without_relevant=scores.without_relevant,
        runs=tuple(
            ScoredRun(
                tag=tag,
                file=runs[index][0],
                name=tag if evaluation.runs.count(tag) == 1 else f"{tag} ({files[index]})",
                values=scores.over_topics(index),
                by_topic=scores.by_topic(index),
                missing=scores.missing(index),
                other_topics=evaluation.other_topics[index],
            )
            for index, tag in enumerate(evaluation.runs)
        ),
        warnings=_warnings(evaluation),
        evaluation=evaluation,
    )


def compare_run_files(scored: ScoredRuns, baseline: str | None, *, seed: int) -> FilesCompared:
    """Compare scored runs by the first measure; the baseline is named by its tag or its file.

    Raises `NotFoundError` when no run has that name.
    """
    names = [run.name for run in scored.runs]
    meant = next((run.name for run in scored.runs if baseline in {run.name, run.tag, run.file}), baseline)
    return compare_scored(names, scored.evaluation.scores, meant, seed=seed)


def score_as_trec_eval(
    qrels: File, runs: Sequence[File], measures: Sequence[str], options: ScoringOptions
) -> tuple[str, tuple[str, ...]]:
    """The output of `trec_eval -c -q` for each run, one after the other, and the warnings.

    Raises as `score_files`, and `InvalidValueError` for a measure that trec_eval does not have.
    """
    asked = measures or OFFICIAL
    evaluation = _evaluate(qrels, runs, measures_to_print(asked, Compat(options.compat)), options)
    reports = [
        trec_eval_report(evaluation.scores, index, tag, asked, Compat(options.compat))
        for index, tag in enumerate(evaluation.runs)
    ]
    missing = [
        f"{tag} returned nothing for {len(topics)} of the topics."
        for index, tag in enumerate(evaluation.runs)
        if (topics := evaluation.scores.missing(index))
    ]
    left_out = [WITHOUT_RBP] if options.compat == "10" and ALL_OF_TREC_EVAL in map(str.lower, asked) else []
    return "".join(reports), (*_warnings(evaluation), *missing, *left_out)


def score_as_sample_eval(
    qrels: File, runs: Sequence[File], measures: Sequence[str], options: ScoringOptions
) -> tuple[str, tuple[str, ...]]:
    """The output of NIST's `sample_eval.pl -q` for each run, one after the other, and the warnings.

    Raises as `score_files`, and `InvalidValueError` where measures are named, since the script has its own.
    """
    if measures:
        raise InvalidValueError(
            "The format sample_eval has the figures that NIST's script prints. Name no measure with it; "
            "infAP(compat=sample_eval) and infNDCG(compat=sample_eval) can be had in other formats."
        )
    evaluation = _evaluate(qrels, runs, parse_measures(["infAP(compat=sample_eval)"]), options)
    rankings = list(sampled_rankings(evaluation.scores.judged, 1))
    reports = [sample_eval_report(evaluation.scores, run, rankings) for run in range(len(evaluation.runs))]
    return "".join(reports), _warnings(evaluation)


def list_measures() -> dict[str, MeasureHelp]:
    """The help of every measure, by name."""
    return explain_all()


def explain_measure(written: str) -> MeasureHelp:
    """The help of one measure, with or without a cutoff; raises `InvalidValueError` for an unknown one."""
    return explain(written)


def _evaluate(
    qrels: File, runs: Sequence[File], measures: Sequence[str | Measure], options: ScoringOptions
) -> Evaluation:
    names = [name for name, _ in runs]
    for name in names:
        if names.count(name) > 1:
            raise InvalidValueError("The run %(file)s is given twice.", file=name)
    return evaluate(
        qrels,
        runs,
        measures,
        relevant_from=options.relevant_from,
        judged_only=options.judged_only,
        compat=options.compat,
        lenient=options.lenient,
        workers=options.workers or os.cpu_count() or 1,
        formats=options.formats,
    )


def _as_scored(measure: Measure, options: ScoringOptions) -> Measure:
    """The measure with the options that apply to all in its brackets, so that tables are self-explanatory."""
    said = dict(measure.parameters)
    if "rel" in measure.definition.takes and "gain" not in said and options.relevant_from != 1:
        said.setdefault("rel", options.relevant_from)
    if options.judged_only:
        said.setdefault("judged_only", True)
    return replace(measure, parameters=tuple((name, said[name]) for name in PARAMETERS if name in said))


def _short_names(files: Sequence[str]) -> list[str]:
    """The file names without folders, unless these are needed to distinguish them."""
    short = [PurePath(file).name for file in files]
    return short if len(set(short)) == len(files) else list(files)


def _warnings(evaluation: Evaluation) -> tuple[str, ...]:
    return (*map(str, evaluation.notices), *map(str, evaluation.warnings))
