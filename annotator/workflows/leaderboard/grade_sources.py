"""The grades that runs are scored against: settled by a policy, one judge's, a kept qrels version, or a file."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.errors import Problems, Sentence
from annotator.evaluation.formats.unpacking import unpack_into
from annotator.evaluation.leaderboard.graded_runs import graded_topics as graded_topics_of_file
from annotator.evaluation.leaderboard.graded_runs import notices_of_file
from annotator.evaluation.leaderboard.leaderboard_notices import ignored_beside_version
from annotator.evaluation.leaderboard.scoring_scope import JudgedBefore, ScoringScope
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.metrics.setting import Compat
from annotator.evaluation.qrels.consensus import ONE_JUDGE, judge_of
from annotator.evaluation.qrels.graded_topic import GradedTopic
from annotator.evaluation.qrels.qrels_format import parse_sampled_qrels
from annotator.evaluation.qrels.samples import samples_of
from annotator.evaluation.qrels.settled_topics import current_opinions, graded_topics
from annotator.evaluation.qrels.settling import Rules, rules_of, settled_topics, with_new_grades
from annotator.files import InputFile
from annotator.storage import Collection as CollectionRow
from annotator.storage import Document
from annotator.storage.collections.collection import topic_ids
from annotator.storage.documents.documents import docnos_of, document_ids
from annotator.storage.judging.topic_counts import in_groups
from annotator.storage.judging.topic_judgements import judges_by_id
from annotator.storage.leaderboard.scored_state import ScoredState, docnos_in_topics, items_judged_since
from annotator.storage.people.accounts import find_user
from annotator.storage.pools.pools import DrawnSample, drawn_sample, strata_of
from annotator.storage.qrels.current_grades import OpinionRow, opinions
from annotator.storage.qrels.qrels_versions import grades_of_version, kept_version
from annotator.workflows.judging.topic_judgements import read_judgements
from annotator.workflows.leaderboard.score_cache import Marked

ITEMS_AT_ONCE = 2_000_000  # whose judgements are in memory at once; then only the settled grades remain


@dataclass(frozen=True)
class GradesFrom:
    """The source of grades: a policy (None: the collection's own), one judge, a qrels version, or a file.

    `compat` is the version of trec_eval to match, `9` or `10`. With a `round` only its runs are scored; `residual`
    removes documents judged before that round from runs and grades, as TREC-COVID did. With a `task`, its key, only its
    runs are scored, on its topics. With `as_kept` a version is scored by the scale, and without the documents, of the
    time when it was kept.
    """

    policy: str | None = None
    judge: str | None = None
    version: int | None = None
    qrels_file: InputFile | None = None
    unpacked_limit: int = 0
    compat: str = Compat.TREC_EVAL_10.value
    round: int | None = None
    residual: bool = False
    as_kept: bool = False
    task: str | None = None

    @property
    def is_live(self) -> bool:
        """Whether these are the present grades settled by the collection's own policy, whatever is scored by them."""
        return self.qrels_file is None and (self.policy, self.judge, self.version) == (None, None, None)


LIVE = GradesFrom()


@dataclass(frozen=True, eq=False, kw_only=True)
class GradeSource(ABC):
    """Grades by topic, with a cache key of how they are computed and a mark per topic that changes with them."""

    name: str
    policy: str | None
    key: Hashable
    marks: Mapping[int, Hashable]
    fingerprint: str | None = None  # SHA-256 of a kept file; None: computed from the grades
    notices: tuple[Sentence, ...] = ()
    sample: DrawnSample | None = None  # used by estimates, beside the grades

    def within(self, scope: ScoringScope | None) -> "GradeSource":  # noqa: ARG002 - kept grades have no judges
        """The source for a scope, which itself takes grades out of the settled topics."""
        return self

    @abstractmethod
    def settle(self, session: Session, stale: Collection[int], earlier: Marked) -> dict[int, GradedTopic]:
        """The grades of the stale topics, computed from their earlier grades where that saves work."""


def find_grade_source(
    session: Session,
    collection: CollectionRow,
    state: ScoredState,
    grades: GradesFrom,
    measures: Collection[Measure],
) -> GradeSource:
    """The source of these grades; a file takes precedence over a version, a version over a judge or a policy.

    Raises `NotFoundError` for an unknown judge or version, `InvalidValueError` for an unknown policy, and
    `FileRefusedError` for a bad file.
    """
    if grades.qrels_file is not None:
        return _grades_of_file(session, state, grades.qrels_file, grades.unpacked_limit, measures)
    if grades.version is not None:
        return _grades_of_version(session, collection.id, state, grades)
    return _grades_of_judges(session, collection, state, grades)


@dataclass(frozen=True, eq=False, kw_only=True)
class JudgesGrades(GradeSource):
    """Grades settled from the current judgements; a topic's mark covers all that they depend on."""

    rules: Rules
    state: ScoredState
    taken_out: JudgedBefore = field(default_factory=dict)  # judged before a residual round

    def within(self, scope: ScoringScope | None) -> GradeSource:
        """The source without the judges and disputes of what a residual round takes out."""
        return self if scope is None else replace(self, taken_out=scope.judged)

    def settle(self, session: Session, stale: Collection[int], earlier: Marked) -> dict[int, GradedTopic]:
        """Settle the stale topics; of topics with only new judgements, just the documents of these."""
        state = self.state
        graded = self._add_new_judgements(session, earlier)
        whole = [topic for topic in stale if topic not in graded]
        judges = judges_by_id(session) if whole else {}
        owners = {topic: one.owner_id for topic, one in state.topics.items()}
        for some in in_groups(session, sorted(whole), ITEMS_AT_ONCE):
            topics = None if state.has_every_topic and len(some) == len(state.topics) else some
            judgements = read_judgements(session, state.collection_id, topics, seconds=False)
            if self.taken_out:
                judgements = judgements.where(~judgements.are_of(self.taken_out))
            current = current_opinions(judgements, judges, owners, machines=self.rules.counts_machines)
            samples = samples_of(strata_of(session, state.sample, some))
            numbers = {topic: state.topics[topic].number for topic in some}
            of_some = graded_topics(current, current.settle(self.rules), numbers)
            graded |= {topic: replace(one, sample=samples.get(topic)) for topic, one in of_some.items()}
        return graded

    def _left(self, judged: Sequence[OpinionRow]) -> Sequence[OpinionRow]:
        if not self.taken_out:
            return judged
        return [one for one in judged if one.document_id not in self.taken_out.get(one.topic_id, ())]

    def _add_new_judgements(self, session: Session, earlier: Marked) -> dict[int, GradedTopic]:
        state = self.state
        judged_since = items_judged_since(
            session, state.continued({topic: mark for topic, (mark, _) in earlier.items()})
        )
        of_items = {item: document for items in judged_since.values() for item, document in items.items()}
        if not of_items:
            return {}
        judged = self._left(opinions(session, state.collection_id, machines=self.rules.counts_machines, items=of_items))
        changed = settled_topics(judged, self.rules, judged_since)
        docnos = docnos_of(session, set(of_items.values()))
        return {
            topic: with_new_grades(
                earlier[topic][1], state.topics[topic].number, changed[topic], items.values(), docnos
            )
            for topic, items in judged_since.items()
        }


def _grades_of_judges(
    session: Session, collection: CollectionRow, state: ScoredState, grades: GradesFrom
) -> JudgesGrades:
    policy = (grades.policy or collection.consensus_policy) if grades.judge is None else ONE_JUDGE + grades.judge
    judge = judge_of(policy)
    # The name of an erased account may be given to another.
    judge_id = None if judge is None else find_user(session, judge).id
    rules = rules_of(collection, policy)
    return JudgesGrades(
        name=grades.judge or "live",
        policy=policy if grades.judge is None else None,
        key=(rules, judge_id, state.machines, state.sample),
        marks=state.topics,
        sample=state.sample,
        rules=rules,
        state=state,
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class VersionGrades(GradeSource):
    """A kept version of the qrels, which is immutable, without topics that no longer count."""

    version_id: int
    state: ScoredState

    def settle(self, session: Session, stale: Collection[int], earlier: Marked) -> dict[int, GradedTopic]:
        """Read the version's grades of the stale topics."""
        of_topics: dict[int, dict[int, int]] = {topic: {} for topic in stale}
        for (topic, document), grade in grades_of_version(session, self.version_id).items():
            if topic in of_topics:
                of_topics[topic][document] = grade
        return _by_name(session, of_topics, self.state, self.sample, earlier)


def _grades_of_version(session: Session, collection_id: int, state: ScoredState, grades: GradesFrom) -> VersionGrades:
    version = kept_version(session, collection_id, str(grades.version))
    sample = drawn_sample(session, collection_id, up_to=version.pool_version)
    return VersionGrades(
        name=str(version.number),
        policy=version.policy,
        key=("version", version.id, sample),
        marks={id_: topic.number for id_, topic in state.topics.items()},
        fingerprint=version.fingerprint,
        notices=ignored_beside_version(version.number, version.policy, judge=grades.judge, other_policy=grades.policy),
        sample=sample,
        version_id=version.id,
        state=state,
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class FileGrades(GradeSource):
    """The grades of a qrels file."""

    graded: Mapping[int, GradedTopic] = field(default_factory=dict)

    def settle(self, session: Session, stale: Collection[int], earlier: Marked) -> dict[int, GradedTopic]:  # noqa: ARG002 - the file has been read
        """The grades that were read from the file."""
        return {topic: self.graded[topic] for topic in stale}


def _grades_of_file(
    session: Session, state: ScoredState, file: InputFile, unpacked_limit: int, measures: Collection[Measure]
) -> FileGrades:
    """Read a qrels file, with or without strata; lines of drafts and dropped topics are left out."""
    problems = Problems()
    text = unpack_into(problems, file.name, file.content, unpacked_limit)
    known = topic_ids(session, state.collection_id)
    parsed = parse_sampled_qrels(file.name, text, problems, topics=known) if text is not None else None
    problems.report_if_any()
    accepted = {topic.number: id_ for id_, topic in state.topics.items()}
    rows = [row for row in (parsed.rows if parsed is not None else ()) if row.topic in accepted]
    documents = document_ids(session, state.collection_id, {row.docno for row in rows})
    unknown = (session.scalar(select(func.max(Document.id))) or 0) + 1
    graded = graded_topics_of_file(rows, accepted, documents, unknown)
    return FileGrades(
        name=file.name,
        policy=None,
        # A process that caches scores has no files, so a fixed key is safe.
        key=("file", file.name, hash(file.content)),
        marks=dict.fromkeys(graded, 0),
        notices=tuple(notices_of_file(rows, measures, is_sampled=state.sample is not None)),
        graded=graded,
    )


def _by_name(
    session: Session,
    grades: Mapping[int, Mapping[int, int]],
    state: ScoredState,
    sample: DrawnSample | None,
    earlier: Marked,
) -> dict[int, GradedTopic]:
    """These grades as lines of a qrels file, and with their strata if they are of a sample."""
    samples = samples_of(strata_of(session, sample, grades))
    docnos: dict[int, bytes] = {}
    for topic in grades.keys() & earlier.keys():
        docnos.update(earlier[topic][1].docnos())
    unnamed = set[int]().union(*grades.values()).difference(docnos)
    docnos.update(docnos_in_topics(session, grades, unnamed))
    return {
        id_: replace(GradedTopic.named(state.topics[id_].number, of_topic, docnos), sample=samples.get(id_))
        for id_, of_topic in grades.items()
    }
