"""From qrels and runs, as files or as values, to the scores of every run: what the command line and programs call."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from annotator.errors import FileRefusedError, InvalidValueError, Problems, Sentence
from annotator.evaluation.joining import judge_matched
from annotator.evaluation.lenient import Notice
from annotator.evaluation.metrics.inputs import QrelsInput, RunsInput, matched, qrels_table
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.metrics.names import parse_measures
from annotator.evaluation.metrics.scoring import Scores, score
from annotator.evaluation.metrics.setting import Compat
from annotator.evaluation.qrels_table import QrelsTable


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The scores of some runs, and what should be known beside them."""

    runs: tuple[str, ...]  # each by its tag, or by the name it was given under
    scores: Scores
    other_topics: tuple[int, ...]  # of each run: its topics that the qrels do not have, which count for nothing
    never_judged: tuple[str, ...]  # topics of the qrels without a grade of 0 or more
    notices: tuple[Notice, ...] = ()  # what was read leniently

    @property
    def warnings(self) -> tuple[Sentence, ...]:
        """Say what may have been meant otherwise."""
        never_judged = [
            Sentence(
                "Nothing of topic %(topic)s is judged, its grades are all negative; every run scores 0 there, and it "
                "counts in the means.",
                {"topic": topic},
            )
            for topic in self.never_judged
        ]
        left_out = [
            Sentence(
                "Topics of run %(run)s that the qrels do not have, left out: %(count)d.", {"run": run, "count": count}
            )
            for run, count in zip(self.runs, self.other_topics, strict=True)
            if count
        ]
        return (*never_judged, *left_out)


def evaluate(
    qrels: QrelsInput,
    runs: RunsInput,
    measures: Iterable[str | Measure],
    *,
    relevant_from: int = 1,
    judged_only: bool = False,
    compat: str | Compat = Compat.TREC_EVAL_10,
    lenient: bool = False,
    workers: int = 1,
) -> Evaluation:
    """Score runs over all topics of the qrels, as trec_eval -c does.

    `runs` are paths, or values by name such as `{"bm25": {"401": {"FT911-3": 12.5}}}`; measures are named as
    `parse_measures` reads them. `lenient` takes from files what trec_eval takes; `workers` processes share the
    reading of many or large files. Raises `FileRefusedError` for files with problems, all of them listed, and
    `InvalidValueError` for wrong values and unknown measures.
    """
    asked = _parsed(measures)
    version = _compat(compat)
    if relevant_from < 1:
        raise InvalidValueError("Documents can be relevant from grade 1 on, not from %(grade)d.", grade=relevant_from)
    problems, notices = Problems(), list[Notice]()
    table = qrels_table(qrels, problems, notices, lenient=lenient)
    if table is None:
        raise _refusal(problems)
    single_precision = version is Compat.TREC_EVAL_9
    found = matched(runs, table, problems, notices, single_precision=single_precision, lenient=lenient, workers=workers)
    if problems.total:
        raise _refusal(problems)
    matches = [run for run in found if run is not None]
    if not matches:
        raise InvalidValueError("There is no run to score.")
    judged = judge_matched(table, matches)
    return Evaluation(
        runs=tuple(run.tag for run in matches),
        scores=score(judged, table.topics, asked, relevant_from, judged_only=judged_only, compat=version),
        other_topics=tuple(run.other_topics for run in matches),
        never_judged=_never_judged(table),
        notices=tuple(notices),
    )


def _parsed(measures: Iterable[str | Measure]) -> tuple[Measure, ...]:
    each = [(one,) if isinstance(one, Measure) else parse_measures([one]) for one in measures]
    return tuple(dict.fromkeys(measure for several in each for measure in several))


def _compat(version: str | Compat) -> Compat:
    try:
        return Compat(version)
    except ValueError:
        raise InvalidValueError("The trec_eval to follow is 9 or 10, not “%(version)s”.", version=version) from None


def _never_judged(table: QrelsTable) -> tuple[str, ...]:
    judged = np.concatenate(([0], np.cumsum(table.grades >= 0)))[table.first]
    return tuple(table.topics[topic] for topic in np.flatnonzero(np.diff(judged) == 0).tolist())


def _refusal(problems: Problems) -> FileRefusedError:
    return FileRefusedError(
        problems, Sentence("Nothing was scored. Problems found: %(total)d.", {"total": problems.total})
    )
