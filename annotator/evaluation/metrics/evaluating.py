"""Scores of runs from qrels and runs, as files or as values: the entry point of the command line and of programs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from annotator.errors import FileRefusedError, InvalidValueError, Problems, Sentence
from annotator.evaluation.matching.lenient import Notice
from annotator.evaluation.matching.matched_runs import MatchedRun
from annotator.evaluation.metrics.inputs import DETECTED, FileFormats, QrelsInput, RunsInput, matched, qrels_table
from annotator.evaluation.metrics.join_qrels import judge_matched
from annotator.evaluation.metrics.judged_rankings import JudgedRankings
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.metrics.names import parse_measures
from annotator.evaluation.metrics.scoring import Scores, score
from annotator.evaluation.metrics.setting import Compat
from annotator.evaluation.qrels.qrels_table import QrelsTable

DIVIDE = frozenset({"IPrec", "11ptAvg"})  # by how many documents are left of a list


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The scores of some runs, and facts for warnings."""

    runs: tuple[str, ...]  # each by its tag, or by the name it was given under
    scores: Scores
    other_topics: tuple[int, ...]  # of each run: its topics that the qrels do not have, which are ignored
    never_judged: tuple[str, ...]  # topics of the qrels without a grade of 0 or more
    without_documents: tuple[str, ...]  # of these, topics without any document, as qrels given as values may have
    notices: tuple[Notice, ...] = ()  # notices of lenient parsing
    # Of each run, for measures of condensed lists: topics for which it returned no judged document.
    nothing_left: tuple[tuple[str, ...], ...] = ()
    of_best_grades: tuple[Measure, ...] = ()  # measures that are not by subtopic, of qrels with subtopics

    @property
    def warnings(self) -> tuple[Sentence, ...]:
        """Return warnings about likely mistakes."""
        never_judged = [
            Sentence(
                "Topic %(topic)s has only negative grades, so nothing of it is judged; no document of any run is "
                "relevant there, and the topic counts in the means.",
                {"topic": topic},
            )
            for topic in self.never_judged
            if topic not in self.without_documents
        ]
        without_documents = [
            Sentence(
                "The qrels have no document of topic %(topic)s; no document of any run is relevant there, and the "
                "topic counts in the means.",
                {"topic": topic},
            )
            for topic in self.without_documents
        ]
        left_out = [
            Sentence(
                "Topics of run %(run)s that the qrels do not have, left out: %(count)d.", {"run": run, "count": count}
            )
            for run, count in zip(self.runs, self.other_topics, strict=True)
            if count
        ]
        not_a_number = [
            Sentence(
                "For these topics run %(run)s returned no judged document, so that nothing is left without the "
                "unjudged ones (-J): %(topics)s. trec_eval divides by zero there and prints NaN for iprec_at_recall "
                "and 11pt_avg; here they are 0.",
                {"run": run, "topics": ", ".join(topics)},
            )
            for run, topics in zip(self.runs, self.nothing_left, strict=False)
            if topics
        ]
        return (*never_judged, *without_documents, *left_out, *not_a_number, *self._about_subtopics)

    @property
    def _about_subtopics(self) -> tuple[Sentence, ...]:
        if not self.of_best_grades:
            return ()
        told = Sentence(
            "The qrels grade documents for several subtopics; for measures without subtopics (%(measures)s) the best "
            "of these grades is a document's grade.",
            {"measures": ", ".join(map(str, self.of_best_grades))},
        )
        return (told,)


def evaluate(
    qrels: QrelsInput,
    runs: RunsInput,
    measures: str | Measure | Iterable[str | Measure],
    *,
    relevant_from: int = 1,
    judged_only: bool = False,
    compat: str | int | Compat = Compat.TREC_EVAL_10,
    lenient: bool = False,
    workers: int = 1,
    formats: FileFormats = DETECTED,
) -> Evaluation:
    """Score runs over all topics of the qrels, as trec_eval -c does.

    `runs` are one path or several, or by name paths or values such as `{"bm25": {"401": {"FT911-3": 12.5}}}`; measures
    are one or several, named as `parse_measures` reads them. `workers` processes share the reading of many or large
    files. `lenient` takes from files what trec_eval takes; it reads one file after the other in this process, each of
    them whole into memory, whatever `workers` says, and so are files read whose format is named. Raises
    `FileRefusedError` for files with problems, up to `MAX_PROBLEMS` of each listed, and `InvalidValueError` for wrong
    values and unknown measures. A measure that depends on the best grade of the scale and states none gets that of the
    qrels in its brackets, as in ERR(max=2).
    """
    asked = _parsed(measures)
    version = _compat(compat)
    _check_numbers(relevant_from, workers)
    notices = list[Notice]()
    reading = _Reading(
        by_subtopic=any(measure.definition.by_subtopic for measure in asked),
        single_precision=version is Compat.TREC_EVAL_9,
        lenient=lenient,
        workers=workers,
        formats=formats,
    )
    table, matches = reading.read(qrels, runs, notices)
    judged = judge_matched(table, matches)
    on_scale = tuple(dict.fromkeys(measure.on_scale(int(table.grades.max(initial=0))) for measure in asked))
    divides = any(one.name in DIVIDE and dict(one.parameters).get("judged_only", judged_only) for one in on_scale)
    return Evaluation(
        runs=tuple(run.tag for run in matches),
        scores=score(judged, table.topics, on_scale, relevant_from, judged_only=judged_only, compat=version),
        other_topics=tuple(run.other_topics for run in matches),
        never_judged=_never_judged(table),
        without_documents=tuple(table.topics[topic] for topic in np.flatnonzero(np.diff(table.first) == 0).tolist()),
        notices=tuple(notices),
        nothing_left=_nothing_left(judged, table.topics) if divides else (),
        of_best_grades=tuple(one for one in on_scale if table.subtopics is not None and not one.definition.by_subtopic),
    )


@dataclass(frozen=True)
class _Reading:
    """How qrels and runs are read."""

    by_subtopic: bool
    single_precision: bool
    lenient: bool
    workers: int
    formats: FileFormats

    def read(self, qrels: QrelsInput, runs: RunsInput, notices: list[Notice]) -> tuple[QrelsTable, list[MatchedRun]]:
        """The qrels, and the runs matched with them; raises as `evaluate`."""
        problems = Problems()
        table = qrels_table(
            *(qrels, problems, notices),
            lenient=self.lenient,
            by_subtopic=self.by_subtopic,
            input_format=self.formats.qrels,
        )
        if table is None:
            raise _refusal(problems)
        found = matched(
            *(runs, table, problems, notices),
            single_precision=self.single_precision,
            lenient=self.lenient,
            workers=self.workers,
            input_format=self.formats.runs,
        )
        if problems.total:
            raise _refusal(problems)
        matches = [run for run in found if run is not None]
        if not matches:
            raise InvalidValueError("There is no run to score.")
        return table, matches


def _parsed(measures: str | Measure | Iterable[str | Measure]) -> tuple[Measure, ...]:
    asked: list[object] = [measures]
    if isinstance(measures, Iterable) and not isinstance(measures, str | bytes):
        asked = list(measures)
    each = [(one,) if isinstance(one, Measure) else parse_measures([_name(one)]) for one in asked]
    if not each:
        raise InvalidValueError("There is no measure to score by; name at least one, such as nDCG@10.")
    return tuple(dict.fromkeys(measure for several in each for measure in several))


def _name(measure: object) -> str:
    if isinstance(measure, str):
        return measure
    raise InvalidValueError(
        "A measure is given by its name, such as nDCG@10, or as parse_measure reads it, and not as %(given)s.",
        given=repr(measure),
    )


def _compat(version: str | int | Compat) -> Compat:
    try:
        return version if isinstance(version, Compat) else Compat(str(version))
    except ValueError:
        raise InvalidValueError("The trec_eval to follow is 9 or 10, not “%(version)s”.", version=version) from None


def _check_numbers(relevant_from: int, workers: int) -> None:
    if not _is_whole(relevant_from):
        raise InvalidValueError(
            "The grade from which on documents are relevant must be a whole number, not %(grade)s.",
            grade=repr(relevant_from),
        )
    if relevant_from < 1:
        raise InvalidValueError("Documents can be relevant from grade 1 on, not from %(grade)d.", grade=relevant_from)
    if not _is_whole(workers) or workers < 1:
        raise InvalidValueError(
            "The number of reading processes is a whole number from 1, not %(workers)s.", workers=repr(workers)
        )


def _is_whole(number: object) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def _never_judged(table: QrelsTable) -> tuple[str, ...]:
    judged = np.concatenate(([0], np.cumsum(table.grades >= 0)))[table.first]
    return tuple(table.topics[topic] for topic in np.flatnonzero(np.diff(judged) == 0).tolist())


def _nothing_left(judged: JudgedRankings, topics: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """For each run the topics for which it returned documents, none of them judged."""
    empty = ((judged.retrieved > 0) & (np.diff(judged.first_row) == 0)).reshape(-1, len(topics))
    return tuple(tuple(topics[place] for place in np.flatnonzero(of_run).tolist()) for of_run in empty)


def _refusal(problems: Problems) -> FileRefusedError:
    return FileRefusedError(
        problems, Sentence("Nothing was scored. Problems found: %(total)d.", {"total": problems.total})
    )
