"""Two runs compared from files alone, without any database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from annotator.errors import FileRefusedError, InvalidValueError, NotFoundError, Problems, Sentence
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.formats.unpacking import read_text
from annotator.evaluation.inspection.scored_runs import JUDGED
from annotator.evaluation.inspection.two_runs import MovedInTopic, PairLook, RankedFile, moved_by_docno, pair_by_measure
from annotator.evaluation.matching.files import lists_in_single_precision
from annotator.evaluation.metrics.evaluating import Evaluation, evaluate
from annotator.evaluation.metrics.names import parse_measures
from annotator.evaluation.metrics.setting import Compat
from annotator.evaluation.qrels.qrels_table import QrelsTable, read_qrels
from annotator.evaluation.runs.run_format import ParsedRun, parse_run
from annotator.files import InputFile

USUAL_COMPAT = Compat.TREC_EVAL_10.value


@dataclass(frozen=True)
class FilesWanted:
    """How two files are to be compared; `topics` None lists the documents of all topics, () of none.

    `compat` says which trec_eval to equal, `9` or `10`.
    """

    measures: Sequence[str]
    relevant_from: int
    seed: int
    top: int
    topics: Sequence[str] | None = ()
    compat: str = USUAL_COMPAT


@dataclass(frozen=True)
class ComparedFiles:
    """Two runs; `docnos` names the documents."""

    look: PairLook
    docnos: Mapping[int, str]
    qrels: str
    topics: tuple[str, ...]
    warnings: tuple[str, ...]


def compare_files(qrels: InputFile, first: InputFile, second: InputFile, wanted: FilesWanted) -> ComparedFiles:
    """Compare two runs over all topics of the qrels, as trec_eval -c scores them.

    Raises `FileRefusedError` with the problems of every file, `InvalidValueError` for unknown measures, for numbers
    that do not fit and for a run and itself, and `NotFoundError` for a topic that the qrels do not have.
    """
    if first.name == second.name:
        raise InvalidValueError("The run %(file)s is given twice.", file=first.name)
    asked = parse_measures(wanted.measures)
    files = [(file.name, file.content) for file in (first, second)]
    evaluation = evaluate(
        (qrels.name, qrels.content), files, [*asked, JUDGED], relevant_from=wanted.relevant_from, compat=wanted.compat
    )
    scores = evaluation.scores
    first_judged, second_judged = scores.means[:, scores.measures.index(JUDGED)].tolist()
    moved, docnos = _moved(qrels, (first, second), evaluation, wanted)
    one, other = _names(evaluation.runs, (first.name, second.name))
    by_measure = tuple(pair_by_measure(scores, 0, 1, place, seed=wanted.seed) for place in range(len(asked)))
    look = PairLook(one, other, first_judged, second_judged, by_measure, moved)
    return ComparedFiles(look, docnos, qrels.name, scores.topics, tuple(map(str, evaluation.warnings)))


def _names(tags: Sequence[str], files: Sequence[str]) -> list[str]:
    """The tags, with their files where both have the same, whole when they are called the same."""
    if tags[0] != tags[1]:
        return list(tags)
    short = [PurePath(file).name for file in files]
    return [f"{tag} ({file})" for tag, file in zip(tags, short if short[0] != short[1] else files, strict=True)]


def _moved(
    qrels: InputFile, runs: Sequence[InputFile], evaluation: Evaluation, wanted: FilesWanted
) -> tuple[tuple[MovedInTopic, ...], Mapping[int, str]]:
    known = evaluation.scores.topics
    for number in wanted.topics or ():
        if number not in known:
            raise NotFoundError("There is no topic “%(number)s” in the qrels.", number=number)
    topics = sorted(known, key=natural_order) if wanted.topics is None else list(wanted.topics)
    if not topics:
        return (), {}
    table, parsed = _read(qrels, runs)
    by_nine = Compat(wanted.compat) is Compat.TREC_EVAL_9
    lists = [lists_in_single_precision(run) if by_nine else run.lists for run in parsed]
    first, second = (RankedFile({topic: one.docnos for topic, one in of_run.items()}) for of_run in lists)
    return moved_by_docno(table, first, second, topics, top=wanted.top)


def _read(qrels: InputFile, runs: Sequence[InputFile]) -> tuple[QrelsTable, list[ParsedRun]]:
    """Read the files once more, which have been scored and so have no problem."""
    problems = Problems()
    text = read_text(problems, qrels.name, qrels.content)
    table = None if text is None else read_qrels(qrels.name, text, problems)
    texts = [(run.name, read_text(problems, run.name, run.content)) for run in runs]
    parsed = [None if read is None else parse_run(name, read, problems) for name, read in texts]
    lists = [run for run in parsed if run is not None]
    if table is None or len(lists) < len(runs):
        raise FileRefusedError(
            problems, Sentence("Nothing was compared. Problems found: %(total)d.", {"total": problems.total})
        )
    return table, lists
