"""The leaderboard: every run scored against the settled grades of this moment, a kept version of them, or a file."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError, Problems
from annotator.evaluation.consensus import ONE_JUDGE, judge_of
from annotator.evaluation.leaderboard import ENOUGH_JUDGED as ENOUGH_JUDGED
from annotator.evaluation.leaderboard import BoardRun
from annotator.evaluation.leaderboard import Leaderboard as Leaderboard
from annotator.evaluation.leaderboard import LeaderboardRow as LeaderboardRow
from annotator.evaluation.leaderboard import View as View
from annotator.evaluation.leaderboard_making import Asked, make_leaderboard
from annotator.evaluation.live_scores import GradedTopic, Grading, topic_lines
from annotator.evaluation.live_scores import LiveScores as LiveScores
from annotator.evaluation.metrics.names import DEFAULT_MEASURES as DEFAULT_MEASURES
from annotator.evaluation.metrics.names import parse_measures
from annotator.evaluation.metrics.names import split_names as split_names
from annotator.evaluation.metrics.setting import Compat
from annotator.evaluation.natural_order import natural_order
from annotator.evaluation.qrels_format import parse_qrels
from annotator.evaluation.settling import rules_of, settle_voices
from annotator.evaluation.significance import IntervalMethod as IntervalMethod
from annotator.evaluation.single_precision import RankedDocuments, tied_documents, unpack_lists
from annotator.evaluation.topic_dropping import DroppingEffect as DroppingEffect
from annotator.evaluation.topic_dropping import effect_of_dropping
from annotator.evaluation.unpacking import unpack_into
from annotator.files import InputFile
from annotator.storage import ACCEPTED, DROPPED, Document
from annotator.storage import Collection as CollectionRow
from annotator.storage.accounts import find_user
from annotator.storage.collection import find_collection, topic_ids
from annotator.storage.documents import docnos_of, document_ids
from annotator.storage.opinions import opinions
from annotator.storage.scored_state import (
    ScoredState,
    find_version,
    grades_of_version,
    learn_docnos,
    lists_with_scores,
    scored_state,
)

USUAL_VIEW = View()


@dataclass(frozen=True)
class GradesFrom:
    """What to score against: grades settled by a policy (None: the collection's own), one judge's, a version, a file.

    `compat` says which trec_eval to equal, `9` or `10`.
    """

    policy: str | None = None
    judge: str | None = None
    version: int | None = None
    qrels_file: InputFile | None = None
    unpacked_limit: int = 0
    compat: str = Compat.TREC_EVAL_10.value


LIVE = GradesFrom()


@dataclass(frozen=True, eq=False)
class _Source:
    """Grades, topic by topic, under a key that says how they come about and marks that change when they may."""

    name: str
    policy: str | None
    key: Hashable
    marks: Mapping[int, Hashable]
    make: Callable[[Collection[int], dict[int, str]], Mapping[int, GradedTopic]]  # with the docnos that are known


def build_leaderboard(
    session: Session,
    slug: str,
    measures: Sequence[str] = DEFAULT_MEASURES,
    *,
    grades: GradesFrom = LIVE,
    view: View = USUAL_VIEW,
    memory: LiveScores | None = None,
) -> Leaderboard:
    """Score every run in force over the accepted topics that have a grade; without a list a run has an empty one.

    The memory of this process, if given, keeps what stays the same until the next time. Raises `InvalidValueError`
    for an unknown measure, `NotFoundError` for an unknown judge, version or baseline, `ConflictError` while there is
    no grade or no run, `FileRefusedError` for a bad file.
    """
    collection = find_collection(session, slug)
    parsed = parse_measures(measures)
    state = scored_state(session, collection)
    grading = Grading(collection.relevant_from, state.best_grade, Compat(grades.compat))
    source = _source(session, collection, state, grades)
    memory = memory or LiveScores()
    with memory.lock:
        kept = memory.of(collection.id, (state.runs, grading.compat))
        topics = kept.grading((source.key, grading))
        graded = topics.refresh(source.marks, lambda stale: source.make(stale, kept.docnos))
        if not any(topic.judged for topic in graded.values()):
            raise ConflictError("Nothing is judged yet, so there is nothing to score against.")
        if not state.runs:
            raise ConflictError("There is no run to score yet.")
        dropped = tuple(sorted(topic_ids(session, collection.id, DROPPED), key=natural_order))
        asked = Asked(
            tuple(BoardRun(run.tag, run.team, run.uploaded_at, run.fed_pool) for run in state.runs),
            {id_: topic.number for id_, topic in state.topics.items()},
            *(dropped, parsed, grading, view, source.name, source.policy),
        )
        runs = [run.id for run in state.runs]
        kept.complete_lists(
            [topic for topic in graded if graded[topic].grades],
            lambda missing: _load_lists(session, runs, missing, grading.compat),
        )
        key = (asked.what, tuple(source.marks.items()))
        return topics.result(key, lambda: make_leaderboard(asked, graded, kept.lists))


def effect_on_leaderboard(board: Leaderboard, topics: Sequence[str]) -> DroppingEffect:
    """Say what its first measure would come to without these topics, run by run in the order of the leaderboard.

    Raises `NotFoundError` for a topic that is not on it, and `ConflictError` when none would be left.
    """
    for number in topics:
        if number not in board.topics:
            raise NotFoundError(
                "Topic “%(number)s” is not on the leaderboard: nothing of it is judged, or it does not count.",
                number=number,
            )
    values = {row.tag: {topic: of_topic[0] for topic, of_topic in row.by_topic.items()} for row in board.rows}
    return effect_of_dropping(parse_measures(board.measures)[0], values, topics)


def measure_help(names: Sequence[str] = DEFAULT_MEASURES) -> dict[str, str]:
    """What each measure says of itself, by its canonical name."""
    return {str(measure): measure.help for measure in parse_measures(names)}


def _source(session: Session, collection: CollectionRow, state: ScoredState, grades: GradesFrom) -> _Source:
    if grades.qrels_file is not None:
        return _of_file(session, collection.id, state, grades.qrels_file, grades.unpacked_limit)
    if grades.version is not None:
        return _of_version(session, collection.id, state, grades.version)
    return _of_judges(session, collection, state, grades)


def _of_judges(session: Session, collection: CollectionRow, state: ScoredState, grades: GradesFrom) -> _Source:
    """The settled grades of this moment, under everything but the judgements that they depend on."""
    policy = grades.policy or collection.consensus_policy if grades.judge is None else ONE_JUDGE + grades.judge
    judge = judge_of(policy)
    if judge is not None:
        find_user(session, judge)
    rules = rules_of(collection, policy)

    def settle(stale: Collection[int], docnos: dict[int, str]) -> dict[int, GradedTopic]:
        some = stale if len(stale) < len(state.topics) else None
        said = opinions(session, collection.id, machines=rules.hears_machines, topics=some)
        settled = settle_voices(said, rules)
        pairs = {one.pool_item_id: (one.topic_id, one.document_id) for one in said}
        of_topics: dict[int, dict[int, int]] = {topic: {} for topic in stale}
        for item, grade in settled.grades.items():
            topic, document = pairs[item]
            of_topics[topic][document] = grade
        judges: dict[int, set[str]] = {topic: set() for topic in stale}
        for topic, judge_name in {(one.topic_id, one.judge) for one in said}:
            judges[topic].add(judge_name)
        left_out = [pairs[item][0] for item in settled.left_out]
        made = _by_name(session, of_topics, state, docnos)
        return {
            topic: GradedTopic(one.grades, one.lines, frozenset(judges[topic]), left_out.count(topic))
            for topic, one in made.items()
        }

    name = grades.judge or "live"
    return _Source(name, policy if grades.judge is None else None, (rules, state.machines), state.topics, settle)


def _of_version(session: Session, collection_id: int, state: ScoredState, number: int) -> _Source:
    """A version that is kept, which never changes; without the topics that do not count any more."""
    version = find_version(session, collection_id, number)

    def make(stale: Collection[int], docnos: dict[int, str]) -> dict[int, GradedTopic]:
        grades = grades_of_version(session, version.id)
        return _by_name(session, {topic: grades.get(topic, {}) for topic in stale}, state, docnos)

    marks = {id_: topic.number for id_, topic in state.topics.items()}
    return _Source(str(number), version.policy, ("version", version.id), marks, make)


def _of_file(session: Session, collection_id: int, state: ScoredState, file: InputFile, unpacked_limit: int) -> _Source:
    """Read a qrels file; a document that the collection does not know still counts, under a number no document has.

    Lines of topics that are drafts or were dropped since it was written are left out.
    """
    topics = topic_ids(session, collection_id)
    problems = Problems()
    text = unpack_into(problems, file.name, file.content, unpacked_limit)
    parsed = parse_qrels(file.name, text, problems, topics=topics) if text is not None else None
    problems.refuse_if_any()
    accepted = topic_ids(session, collection_id, ACCEPTED)
    rows = [row for row in (parsed.rows if parsed is not None else ()) if row.topic in accepted]
    documents = document_ids(session, collection_id, {row.docno for row in rows})
    unknown = (session.scalar(select(func.max(Document.id))) or 0) + 1
    qrels: dict[int, dict[int, int]] = {topic: {} for topic in state.topics}
    lines: dict[int, list[tuple[str, int]]] = {topic: [] for topic in state.topics}
    for offset, row in enumerate(rows):
        qrels[topics[row.topic]][documents.get(row.docno, unknown + offset)] = row.grade
        lines[topics[row.topic]].append((row.docno, row.grade))
    made = {topic: GradedTopic(qrels[topic], topic_lines(state.topics[topic].number, lines[topic])) for topic in qrels}
    # Whoever keeps a memory has no files; one file is never taken for another.
    key = ("file", file.name, hash(file.content))
    return _Source(
        file.name, None, key, dict.fromkeys(qrels, 0), lambda stale, _: {topic: made[topic] for topic in stale}
    )


def _by_name(
    session: Session, grades: Mapping[int, Mapping[int, int]], state: ScoredState, docnos: dict[int, str]
) -> dict[int, GradedTopic]:
    """These grades with their lines of a qrels file."""
    learn_docnos(session, state.collection_id, {one for of_topic in grades.values() for one in of_topic}, docnos)
    return {
        id_: GradedTopic(
            of_topic,
            topic_lines(state.topics[id_].number, [(docnos[document], grade) for document, grade in of_topic.items()]),
        )
        for id_, of_topic in grades.items()
    }


def _load_lists(
    session: Session, runs: Sequence[int], topics: Collection[int], compat: Compat
) -> dict[int, list[RankedDocuments]]:
    """The lists of all runs for these topics, by topic, as that trec_eval orders them."""
    rows = lists_with_scores(session, runs, topics, with_scores=compat is Compat.TREC_EVAL_9)
    return unpack_lists(runs, topics, rows, docnos_of(session, tied_documents(rows)))
