"""Where the grades of a leaderboard come from: judges, a kept version of the qrels, or a file.

Of judges those topics are settled again of which something was said; where that was judgements and nothing else, only
the documents that they are of.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.errors import Problems
from annotator.evaluation.consensus import ONE_JUDGE, judge_of
from annotator.evaluation.graded_file import graded_topics, notices_of_file
from annotator.evaluation.graded_topic import GradedTopic, NewGrade
from annotator.evaluation.leaderboard_recalling import Source, said_of_version
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.metrics.setting import Compat
from annotator.evaluation.qrels_format import parse_sampled_qrels
from annotator.evaluation.samples import samples_of
from annotator.evaluation.settling import Rules, rules_of, settle_voices
from annotator.evaluation.unpacking import unpack_into
from annotator.files import InputFile
from annotator.storage import Collection as CollectionRow
from annotator.storage import Document
from annotator.storage.accounts import find_user
from annotator.storage.collection import topic_ids
from annotator.storage.documents import docnos_of, document_ids
from annotator.storage.kept_grades import grades_of_version
from annotator.storage.new_judgements import items_said_of
from annotator.storage.opinions import OpinionRow, opinions
from annotator.storage.qrels_versions import kept_version
from annotator.storage.samples import DrawnSample, drawn_sample, strata_of
from annotator.storage.scored_state import ScoredState, TopicState, docnos_in_topics

TOPICS_AT_ONCE = 16  # what judges say of so many is in memory together, and then only what came of it

# What was kept of topics, with their marks.
Earlier = Mapping[int, tuple[object, GradedTopic]]


@dataclass(frozen=True)
class GradesFrom:
    """What to score against: grades settled by a policy (None: the collection's own), one judge's, a version, a file.

    `compat` says which trec_eval to equal, `9` or `10`. With a `round` only its runs are scored; `residual` takes what
    was judged before that round out of runs and grades, as TREC-COVID did. With `as_kept` a version is scored by the
    scale, and without the documents, of the time when it was kept.
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


LIVE = GradesFrom()


def source_of(
    session: Session,
    collection: CollectionRow,
    state: ScoredState,
    grades: GradesFrom,
    measures: Collection[Measure],
) -> Source:
    """What these grades are; a file goes before a version, a version before a judge or a policy.

    Raises `NotFoundError` for an unknown judge or version, `InvalidValueError` for an unknown policy, and
    `FileRefusedError` for a bad file.
    """
    if grades.qrels_file is not None:
        return _of_file(session, state, grades.qrels_file, grades.unpacked_limit, measures)
    if grades.version is not None:
        return _of_version(session, collection.id, state, grades)
    return _of_judges(session, collection, state, grades)


def _of_judges(session: Session, collection: CollectionRow, state: ScoredState, grades: GradesFrom) -> Source:
    """The settled grades of this moment, under everything but the judgements that they depend on."""
    policy = grades.policy or collection.consensus_policy if grades.judge is None else ONE_JUDGE + grades.judge
    judge = judge_of(policy)
    if judge is not None:
        find_user(session, judge)
    rules = rules_of(collection, policy)
    settling = _JudgesOf(session, state, rules)
    name = grades.judge or "live"
    key, policy_shown = (rules, state.machines, state.sample), policy if grades.judge is None else None
    return Source(name, policy_shown, key, state.topics, settling.settle, sample=state.sample)


@dataclass(frozen=True)
class _JudgesOf:
    """What the judges of a collection say at one moment, to be settled by some rules."""

    session: Session
    state: ScoredState
    rules: Rules

    def settle(self, stale: Collection[int], earlier: Earlier) -> dict[int, GradedTopic]:
        """The grades of these topics; of those whose new judgements are all that changed only these are read."""
        since = {
            topic: mark.latest
            for topic, (mark, _) in earlier.items()
            if isinstance(mark, TopicState)
            and mark.latest is not None
            and mark.is_continued_by(self.state.topics[topic])
        }
        said_of = items_said_of(self.session, since)
        made = self._changed(said_of, {topic: earlier[topic][1] for topic in said_of})
        others = iter([topic for topic in stale if topic not in made])
        while some := list(islice(others, TOPICS_AT_ONCE)):
            made |= self._whole(some, earlier)
        return made

    def _changed(
        self, said_of: Mapping[int, Mapping[int, int]], known: Mapping[int, GradedTopic]
    ) -> dict[int, GradedTopic]:
        """The topics with the present grades of these items, {topic: {item: document}}."""
        if not said_of:
            return {}
        of_items = {item: document for items in said_of.values() for item, document in items.items()}
        said = self._opinions(items=of_items)
        settled = settle_voices(said, self.rules)
        docnos = docnos_of(self.session, set(of_items.values()))
        judges = _judges_by_topic(said)
        return {
            topic: known[topic].changed(
                self.state.topics[topic].number,
                [
                    NewGrade(document, docnos[document].encode(), settled.grades.get(item))
                    for item, document in items.items()
                ],
                judges=judges.get(topic, ()),
                disputed=[document for item, document in items.items() if item in settled.left_out],
            )
            for topic, items in said_of.items()
        }

    def _whole(self, topics: Collection[int], earlier: Earlier) -> dict[int, GradedTopic]:
        """The topics by all that is said of them."""
        said = self._opinions(topics=topics)
        settled = settle_voices(said, self.rules)
        pairs = {one.pool_item_id: (one.topic_id, one.document_id) for one in said}
        of_topics: dict[int, dict[int, int]] = {topic: {} for topic in topics}
        for item, grade in settled.grades.items():
            topic, document = pairs[item]
            of_topics[topic][document] = grade
        left_out: dict[int, set[int]] = {}
        for item in settled.left_out:
            left_out.setdefault(pairs[item][0], set()).add(pairs[item][1])
        judges = _judges_by_topic(said)
        made = _by_name(self.session, of_topics, self.state, self.state.sample, earlier)
        return {
            topic: replace(one, judges=frozenset(judges.get(topic, ())), disputed=frozenset(left_out.get(topic, ())))
            for topic, one in made.items()
        }

    def _opinions(
        self, *, topics: Collection[int] | None = None, items: Collection[int] | None = None
    ) -> list[OpinionRow]:
        machines = self.rules.hears_machines
        return opinions(self.session, self.state.collection_id, machines=machines, topics=topics, items=items)


def _judges_by_topic(said: Sequence[OpinionRow]) -> dict[int, set[int]]:
    judges: dict[int, set[int]] = {}
    for topic, judge in {(one.topic_id, one.judge_id) for one in said}:
        judges.setdefault(topic, set()).add(judge)
    return judges


def _of_version(session: Session, collection_id: int, state: ScoredState, asked: GradesFrom) -> Source:
    """A version that is kept, which never changes; without the topics that do not count any more."""
    version = kept_version(session, collection_id, str(asked.version))
    sample = drawn_sample(session, collection_id, up_to=version.pool_version)

    def make(stale: Collection[int], earlier: Earlier) -> dict[int, GradedTopic]:
        of_topics: dict[int, dict[int, int]] = {topic: {} for topic in stale}
        for (topic, document), grade in grades_of_version(session, version.id).items():
            if topic in of_topics:
                of_topics[topic][document] = grade
        return _by_name(session, of_topics, state, sample, earlier)

    marks = {id_: topic.number for id_, topic in state.topics.items()}
    said = said_of_version(version.number, version.policy, asked_policy=asked.policy, asked_judge=asked.judge)
    key = ("version", version.id, sample)
    return Source(str(version.number), version.policy, key, marks, make, version.fingerprint, said, sample)


def _of_file(
    session: Session, state: ScoredState, file: InputFile, unpacked_limit: int, measures: Collection[Measure]
) -> Source:
    """Read a qrels file, with strata or without; lines of topics that are drafts or were dropped since are left out."""
    problems = Problems()
    text = unpack_into(problems, file.name, file.content, unpacked_limit)
    known = topic_ids(session, state.collection_id)
    parsed = parse_sampled_qrels(file.name, text, problems, topics=known) if text is not None else None
    problems.report_if_any()
    accepted = {topic.number: id_ for id_, topic in state.topics.items()}
    rows = [row for row in (parsed.rows if parsed is not None else ()) if row.topic in accepted]
    documents = document_ids(session, state.collection_id, {row.docno for row in rows})
    unknown = (session.scalar(select(func.max(Document.id))) or 0) + 1
    made = graded_topics(rows, accepted, documents, unknown)
    said = notices_of_file(rows, measures, is_sampled=state.sample is not None)
    # Whoever keeps a memory has no files; one file is never taken for another.
    key = ("file", file.name, hash(file.content))
    marks = dict.fromkeys(made, 0)
    return Source(
        file.name, None, key, marks, lambda stale, _: {topic: made[topic] for topic in stale}, said=tuple(said)
    )


def _by_name(
    session: Session,
    grades: Mapping[int, Mapping[int, int]],
    state: ScoredState,
    sample: DrawnSample | None,
    earlier: Earlier,
) -> dict[int, GradedTopic]:
    """These grades with their lines of a qrels file, and with their strata if they are of a sample."""
    samples = samples_of(strata_of(session, sample, grades))
    docnos: dict[int, bytes] = {}
    for topic in grades.keys() & earlier.keys():
        docnos.update(earlier[topic][1].docnos())
    wanted = set[int]().union(*grades.values())
    docnos.update(docnos_in_topics(session, grades, wanted.difference(docnos)))
    return {
        id_: replace(GradedTopic.named(state.topics[id_].number, of_topic, docnos), sample=samples.get(id_))
        for id_, of_topic in grades.items()
    }
