"""Scores of runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.evaluating import Evaluation
from annotator.evaluation.metrics.evaluating import evaluate as evaluate_inputs
from annotator.evaluation.metrics.inputs import FileFormats
from annotator.library.inputs import Given, distinct_names, qrels_of, runs_of
from annotator.library.tables import Cell, Table

USUAL_MEASURES = ("nDCG@10", "AP", "P@10", "RR")


@dataclass(frozen=True, repr=False)
class Results(Table):
    """A row for each run: its value of each measure over all topics of the qrels, as trec_eval -c takes it."""

    evaluation: Evaluation = field(kw_only=True)  # the values as arrays

    @property
    def by_topic(self) -> Table:
        """The values of each run on each topic."""
        rows = (
            (run, topic, *values)
            for place, run in enumerate(self.column("run"))
            for topic, values in self.evaluation.scores.by_topic(place).items()
        )
        return Table(("run", "topic", *self.columns[1:]), tuple(rows))

    def value(self, run: str, measure: str) -> Cell:
        """Return one value, of a run and a measure by its name as in the columns."""
        runs = self.column("run")
        if run not in runs:
            raise InvalidValueError("There is no run %(run)s.", run=run)
        return self.column(measure)[runs.index(run)]


def evaluate(
    qrels: Given,
    runs: Given,
    measures: Given = USUAL_MEASURES,
    *,
    input_format: str | None = None,
    qrels_format: str | None = None,
    **options: Any,  # noqa: ANN401 - as of `annotator.evaluation.metrics.evaluate`
) -> Results:
    """Score runs over all topics of the qrels, as trec_eval -c does.

    Qrels and runs are paths of files, dicts ({topic: {docno: grade}}, {name: {topic: {docno: score}}}), frames of
    pandas, polars or pyarrow with columns such as topic, docno and grade or score, records such as those of
    ir_measures, or objects with `to_dict`, as of ranx. Files may be of TREC or of other tools, and compressed;
    `input_format` names the format of runs and `qrels_format` that of qrels, where they are not to be detected: names
    such as csv, as the command `annotator evaluate` takes them. Subtopics are the second column of a file of qrels, or
    the column `subtopic` or `iteration` of a frame. Measures are names such as nDCG@10 or measures of ir_measures.
    Options are those of `annotator.evaluation.metrics.evaluate`: `relevant_from`, `judged_only`, `compat`, `lenient`,
    `workers`. Raises `FileRefusedError` for files with problems and `InvalidValueError` for invalid values.
    """
    known = qrels_of(qrels, by_subtopic=True)
    if isinstance(runs, list | tuple | Mapping) and not runs:  # such as of a glob without matches
        raise InvalidValueError("There is no run.")
    given = runs_of(runs)
    found = evaluate_inputs(
        known,
        given,
        _named(measures),
        formats=FileFormats(qrels_format, input_format),
        **options,
    )
    scores = found.scores
    return Results(
        ("run", *map(str, scores.measures)),
        tuple((run, *scores.over_topics(place)) for place, run in enumerate(distinct_names(found.runs, given))),
        tuple(map(str, found.warnings)),
        evaluation=found,
    )


def _named(measures: Given) -> Any:  # noqa: ANN401 - what `evaluate` takes
    """Measures of ir_measures by their names."""
    if isinstance(measures, list | tuple | set | frozenset):
        return [_named(one) for one in measures]
    return str(measures) if type(measures).__module__.partition(".")[0] == "ir_measures" else measures
