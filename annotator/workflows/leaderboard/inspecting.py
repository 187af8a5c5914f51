"""Detail behind the leaderboard: one run, one topic, or two runs."""

from collections.abc import Collection as Collected
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from sqlalchemy.orm import Session

from annotator.errors import FileRefusedError, InvalidValueError, NotFoundError, Problems, Sentence
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.formats.unpacking import read_text
from annotator.evaluation.inspection.gain_curve import GainPoint, gain_curve
from annotator.evaluation.inspection.one_run import RunLook, look_at_run
from annotator.evaluation.inspection.one_topic import Difficulty, TopicLook, look_at_topic, look_at_topics
from annotator.evaluation.inspection.scored_runs import (
    JUDGED,
    GradesState,
    Names,
    ScoredRuns,
    score_inspected,
    settle_by_topic,
    state_of,
)
from annotator.evaluation.inspection.side_by_side import ListedDocument, listed_documents
from annotator.evaluation.inspection.topic_matrix import TopicMatrix, hardest_first, topic_matrix
from annotator.evaluation.inspection.two_runs import (
    MovedInTopic,
    PairLook,
    RankedFile,
    TopicDifferences,
    differences_from,
    look_at_pair,
    moved_by_docno,
    pair_by_measure,
)
from annotator.evaluation.leaderboard import scoring_scope
from annotator.evaluation.leaderboard.leaderboard_notices import sample_notices
from annotator.evaluation.leaderboard.scoring_scope import ScoringScope
from annotator.evaluation.matching.files import lists_in_single_precision
from annotator.evaluation.metrics.evaluating import Evaluation, evaluate
from annotator.evaluation.metrics.inputs import FileFormats
from annotator.evaluation.metrics.measures import Better
from annotator.evaluation.metrics.names import USUAL_MEASURE, measures_on_scale, parse_measure, parse_measures
from annotator.evaluation.metrics.scoring import NOTHING_RETRIEVED
from annotator.evaluation.metrics.setting import Compat, Values
from annotator.evaluation.qrels.consensus import ONE_JUDGE, judge_of
from annotator.evaluation.qrels.qrels_table import QrelsTable, read_qrels
from annotator.evaluation.qrels.samples import samples_of
from annotator.evaluation.qrels.settling import rules_of
from annotator.evaluation.runs.rankings import decode_scores
from annotator.evaluation.runs.run_format import ParsedRun, parse_run
from annotator.files import InputFile
from annotator.storage import Collection
from annotator.storage.collections.collection import accepted_topics, find_collection, scale_of
from annotator.storage.documents.documents import docnos_of
from annotator.storage.leaderboard.scored_state import (
    ListedRun,
    listed_runs,
    packed_scores,
    require_in_force,
    searchers_of,
)
from annotator.storage.people.accounts import find_user
from annotator.storage.pools.pools import DrawnSample, drawn_sample, strata_of
from annotator.storage.qrels.current_grades import opinions
from annotator.storage.qrels.qrels_versions import LIVE, kept_grades
from annotator.workflows.runs.scoring_scope import scope_notices, whole_scope

USUAL_TOP = 10
MOST_TOP = 1_000
USUAL_SEED = 1


@dataclass(frozen=True)
class GradesChosen:
    """The grades to score by: a kept version, one judge's labels, or those settled by a policy now.

    A version takes precedence over a judge, a judge over a policy; None is the collection's own policy. With a `round`
    only its runs are scored, with `residual` without documents judged before it; with a `task`, its key, only its runs
    on its topics.
    """

    qrels: str = LIVE
    judge: str | None = None
    policy: str | None = None
    round: int | None = None
    residual: bool = False
    task: str | None = None


OWN_GRADES = GradesChosen()


@dataclass(frozen=True)
class Choices:
    """The basis of the scores, and the other runs and topics to choose from, in natural order."""

    state: GradesState
    measure: str  # the first measure
    better: Better
    tags: tuple[str, ...]
    topics: tuple[str, ...]
    notices: tuple[Sentence, ...]  # on round and task, and if the pool is a sample


@dataclass(frozen=True)
class InspectedRun:
    """Detail of one run; `docnos` names the documents; differences are from a baseline, or from the median run.

    `listed` is the top of its list for the topic of the curve.
    """

    choices: Choices
    look: RunLook
    team: str | None
    docnos: Mapping[int, str]
    baseline: str | None
    differences: TopicDifferences
    gain: tuple[GainPoint, ...]
    listed: tuple[ListedDocument, ...]


@dataclass(frozen=True)
class InspectedTopics:
    """The difficulty of each topic, the hardest first, and the scores of all runs."""

    choices: Choices
    difficulties: tuple[Difficulty, ...]
    matrix: TopicMatrix


@dataclass(frozen=True)
class InspectedTopic:
    """Detail of one topic; `searchers` are those who found a document by searching."""

    choices: Choices
    look: TopicLook
    docnos: Mapping[int, str]
    searchers: Mapping[int, tuple[str, ...]]


@dataclass(frozen=True)
class InspectedPair:
    """Comparison of two runs."""

    choices: Choices
    look: PairLook
    docnos: Mapping[int, str]


def inspect_run(
    session: Session,
    slug: str,
    tag: str,
    *,
    measure: str = USUAL_MEASURE,
    top: int = USUAL_TOP,
    topic: str | None = None,
    baseline: str | None = None,
    grades: GradesChosen = OWN_GRADES,
) -> InspectedRun:
    """Inspect an active run: unjudged documents to rank `top`, and of one topic the curve and the list to that rank.

    Differences by topic are from `baseline`, without one from the median of all runs. Raises `NotFoundError` for an
    unknown run, topic, judge or version, `InvalidValueError` for an unknown measure, rank or policy, and
    `ConflictError` for a withdrawn run and while nothing can be scored.
    """
    _check_top(top)
    inspected = _score(session, slug, grades, [str(parse_measure(measure))], [tag, *([baseline] if baseline else [])])
    scored, run = inspected.scored, next(run for run in inspected.stored if run.tag == tag)
    look = look_at_run(scored, tag, _scores(session, run, inspected.scope), top=top, topic=topic)
    place = scored.topic(look.raw_topic)
    listed = listed_documents(
        scored.ranking(scored.run(tag), place), NOTHING_RETRIEVED, scored.qrels[scored.topics[place]], top=top
    )
    shown = {one.document for one in look.unjudged} | {one.document for one in listed}
    differences = differences_from(scored, tag, baseline)
    gain = gain_curve(scored, tag)
    return InspectedRun(
        choices_of(scored), look, run.team, docnos_of(session, shown), baseline, differences, gain, listed
    )


def inspect_topics(
    session: Session, slug: str, *, measure: str = USUAL_MEASURE, grades: GradesChosen = OWN_GRADES
) -> InspectedTopics:
    """The difficulty of each scored topic; raises as `inspect_run`."""
    scored = _score(session, slug, grades, [str(parse_measure(measure))]).scored
    return InspectedTopics(choices_of(scored), hardest_first(look_at_topics(scored)), topic_matrix(scored))


def inspect_topic(
    session: Session,
    slug: str,
    number: str,
    *,
    measure: str = USUAL_MEASURE,
    depth: int | None = None,
    grades: GradesChosen = OWN_GRADES,
) -> InspectedTopic:
    """Inspect a topic; its documents count as found within a depth of the runs, or at any rank.

    Raises as `inspect_run`.
    """
    if depth is not None:
        _check_top(depth)
    scored = _score(session, slug, grades, [str(parse_measure(measure))]).scored
    look = look_at_topic(scored, number, depth=depth)
    docnos = docnos_of(session, {one.document for one in look.found.documents})
    searchers = searchers_of(session, scored.topics[scored.topic(number)])
    return InspectedTopic(choices_of(scored), look, docnos, searchers)


def inspect_pair(
    session: Session,
    slug: str,
    first: str,
    second: str,
    *,
    measures: Sequence[str] = (USUAL_MEASURE,),
    topics: Sequence[str] | None = None,
    top: int = USUAL_TOP,
    seed: int = USUAL_SEED,
    grades: GradesChosen = OWN_GRADES,
) -> InspectedPair:
    """Compare two active runs; `topics` are those whose documents are listed, as for `look_at_pair`.

    Raises as `inspect_run`, and `InvalidValueError` for a run with itself and for a seed below 0.
    """
    scored = score_pair(session, slug, first, second, measures, top=top, seed=seed, grades=grades)
    look = look_at_pair(scored, first, second, seed=seed, top=top, topics=topics)
    docnos = docnos_of(session, {one.document for moved in look.moved for one in moved.documents})
    return InspectedPair(choices_of(scored), look, docnos)


def score_pair(
    session: Session,
    slug: str,
    first: str,
    second: str,
    measures: Sequence[str],
    *,
    top: int,
    seed: int,
    grades: GradesChosen,
) -> ScoredRuns:
    """Score the runs for a comparison of two of them; raises as `inspect_pair`."""
    _check_top(top)
    check_pair(first, second, seed)
    return _score(session, slug, grades, measures, [first, second]).scored


def check_pair(first: str, second: str, seed: int) -> None:
    """Raise `InvalidValueError` for the comparison of a run with itself and for a seed below 0."""
    if seed < 0:
        raise InvalidValueError("A seed is a whole number from 0, not %(given)d.", given=seed)
    if first == second:
        raise InvalidValueError("The run %(tag)s cannot be compared with itself: choose two different runs.", tag=first)


@dataclass(frozen=True, eq=False)
class _Inspected:
    """Scored runs, the stored runs, and the round or task that is scored."""

    scored: ScoredRuns
    stored: Sequence[ListedRun]
    scope: ScoringScope | None


def score_versions(
    session: Session, slug: str, run_ids: Collected[int], measure: str, grades: GradesChosen
) -> tuple[Sequence[int], ScoredRuns]:
    """Score these runs, replaced ones included and withdrawn ones left out; also returns the ids of the scored runs.

    Raises as `inspect_run`.
    """
    inspected = _score(session, slug, grades, [measure], versions=run_ids)
    return [run.id for run in inspected.stored], inspected.scored


def _score(
    session: Session,
    slug: str,
    grades: GradesChosen,
    measures: Sequence[str],
    tags: Sequence[str] = (),
    versions: Collected[int] | None = None,
) -> _Inspected:
    """Score every active run, or those of a round or task, over the accepted topics with a grade.

    `tags` must be among them. With `versions`, only the runs with these ids, replaced ones included.
    """
    collection = find_collection(session, slug)
    best_grade = scale_of(session, collection.id)[-1].value
    parsed = measures_on_scale(measures, best_grade)
    scope = whole_scope(session, collection.id, grades.round, residual=grades.residual, task=grades.task)
    for tag in tags:
        _require_scored(session, collection.id, tag, scope)
    chosen = _chosen(session, collection, grades)
    qrels = scoring_scope.qrels_within(scope, chosen.qrels)
    if not qrels:
        raise scoring_scope.nothing_judged(scope)
    wanted = versions if versions is not None else scope.runs if scope else None
    stored = listed_runs(session, collection.id, qrels, runs_of=wanted, with_replaced=versions is not None)
    if not stored:
        raise scoring_scope.no_run(scope)
    runs = [replace(run, lists=dict(scoring_scope.lists_within(scope, run.lists))) for run in stored]
    numbers = accepted_topics(session, collection.id)
    names = Names(numbers, docnos_of(session, {document for of_topic in qrels.values() for document in of_topic}))
    by = (chosen.source, chosen.policy, collection.relevant_from)
    state = state_of(qrels, names, *by, fingerprint=chosen.fingerprint, scope=scope)
    estimates = any(measure.definition.estimates for measure in parsed)
    samples = scoring_scope.samples_within(
        scope, samples_of(strata_of(session, chosen.sample if estimates else None, qrels))
    )
    scored = score_inspected(runs, qrels, state, numbers, parsed, best_grade, samples)
    notices = (*scope_notices(session, collection.id, scope), *sample_notices(chosen.sample, parsed))
    return _Inspected(replace(scored, notices=notices), stored, scope)


def _require_scored(session: Session, collection_id: int, tag: str, scope: ScoringScope | None) -> None:
    """Raise `NotFoundError` for an unknown run or one that is not scored, `ConflictError` for a withdrawn one."""
    run = require_in_force(session, collection_id, tag)
    if scope is not None and run.id not in scope.runs:
        raise scoring_scope.not_scored(tag, scope)


def _scores(session: Session, run: ListedRun, scope: ScoringScope | None) -> dict[int, Values]:
    """Document scores of a run by topic id; in a residual round, of the remaining documents."""
    scores = {id_: decode_scores(packed) for id_, packed in packed_scores(session, run.id).items()}
    if scope is None:
        return scores
    return {id_: scores[id_][scope.places_left(id_, packed)] for id_, packed in run.lists.items()}


@dataclass(frozen=True)
class _Chosen:
    """Grades by topic id and document id, and the sample that the pool was at the time."""

    qrels: dict[int, dict[int, int]]
    source: str
    policy: str | None
    sample: DrawnSample | None
    fingerprint: str | None = None  # SHA-256 of the version


def _chosen(session: Session, collection: Collection, chosen: GradesChosen) -> _Chosen:
    if chosen.qrels != LIVE:
        kept = kept_grades(session, collection.id, chosen.qrels)
        qrels: dict[int, dict[int, int]] = {}
        for (topic, document), grade in kept.grades.items():
            qrels.setdefault(topic, {})[document] = grade
        sample = drawn_sample(session, collection.id, up_to=kept.pool_version)
        return _Chosen(qrels, chosen.qrels, kept.policy, sample, kept.fingerprint)
    rules = rules_of(collection, chosen.policy if chosen.judge is None else ONE_JUDGE + chosen.judge)
    judge = judge_of(rules.policy)
    if judge is not None:
        find_user(session, judge)
    said = opinions(session, collection.id, machines=rules.counts_machines)
    settled = settle_by_topic(said, rules)
    sample = drawn_sample(session, collection.id)
    if chosen.judge is not None:
        return _Chosen(settled, chosen.judge, None, sample)
    return _Chosen(settled, LIVE, rules.policy, sample)


def choices_of(scored: ScoredRuns) -> Choices:
    """Describe the basis of the scores."""
    return Choices(
        scored.state,
        str(scored.measures[0]),
        scored.better,
        tuple(sorted(scored.tags, key=natural_order)),
        tuple(sorted(scored.numbers, key=natural_order)),
        scored.notices,
    )


def _check_top(top: int) -> None:
    if not 1 <= top <= MOST_TOP:
        raise InvalidValueError("A rank is from 1 to %(most)d, not %(given)d.", most=MOST_TOP, given=top)


USUAL_COMPAT = Compat.TREC_EVAL_10.value


@dataclass(frozen=True)
class FilesWanted:
    """Options of a comparison of two files; `topics` None lists the documents of all topics, () of none.

    `compat` is the version of trec_eval to match, `9` or `10`.
    """

    measures: Sequence[str]
    relevant_from: int
    seed: int
    top: int
    topics: Sequence[str] | None = ()
    compat: str = USUAL_COMPAT


@dataclass(frozen=True)
class ComparedFiles:
    """Comparison of two run files; `docnos` names the documents."""

    look: PairLook
    docnos: Mapping[int, str]
    qrels: str
    topics: tuple[str, ...]
    warnings: tuple[str, ...]


def compare_files(qrels: InputFile, first: InputFile, second: InputFile, wanted: FilesWanted) -> ComparedFiles:
    """Compare two runs over all topics of the qrels, as scored by trec_eval -c; both have the format of the first.

    Raises `FileRefusedError` with the problems of every file, `InvalidValueError` for unknown measures, for numbers out
    of range and for a run with itself, and `NotFoundError` for a topic that is not in the qrels.
    """
    if first.name == second.name:
        raise InvalidValueError("The run %(file)s is given twice.", file=first.name)
    asked = parse_measures(wanted.measures)
    files = [(file.name, file.content) for file in (first, second)]
    evaluation = evaluate(
        (qrels.name, qrels.content),
        files,
        [*asked, JUDGED],
        relevant_from=wanted.relevant_from,
        compat=wanted.compat,
        formats=FileFormats(qrels.input_format, first.input_format),
    )
    scores = evaluation.scores
    first_judged, second_judged = scores.means[:, scores.measures.index(JUDGED)].tolist()
    moved, docnos = _moved(qrels, (first, second), evaluation, wanted)
    one, other = _names(evaluation.runs, (first.name, second.name))
    by_measure = tuple(pair_by_measure(scores, 0, 1, place, seed=wanted.seed) for place in range(len(asked)))
    look = PairLook(one, other, first_judged, second_judged, by_measure, moved)
    return ComparedFiles(look, docnos, qrels.name, scores.topics, tuple(map(str, evaluation.warnings)))


def _names(tags: Sequence[str], files: Sequence[str]) -> list[str]:
    """The tags; with file names if both tags are equal, with full paths if the file names are, too."""
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
    """Parse the files again; they have been scored, so they have no problem."""
    problems = Problems()
    text = read_text(problems, qrels.name, qrels.content)
    table = None if text is None else read_qrels(qrels.name, text, problems, qrels.input_format)
    texts = [(run, read_text(problems, run.name, run.content)) for run in runs]
    parsed = [
        None if read is None else parse_run(run.name, read, problems, input_format=run.input_format)
        for run, read in texts
    ]
    lists = [run for run in parsed if run is not None]
    if table is None or len(lists) < len(runs):
        raise FileRefusedError(
            problems, Sentence("Nothing was compared. Problems found: %(total)d.", {"total": problems.total})
        )
    return table, lists
