"""A closer look at what stands behind the leaderboard: one run, one topic, or two runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError
from annotator.evaluation.consensus import ONE_JUDGE, judge_of
from annotator.evaluation.inspection.one_topic import Difficulty
from annotator.evaluation.inspection.one_topic import FoundDocuments as FoundDocuments
from annotator.evaluation.inspection.pair_look import PairLook as PairLook
from annotator.evaluation.inspection.pair_look import look_at_pair
from annotator.evaluation.inspection.run_look import RunLook, look_at_run
from annotator.evaluation.inspection.scored_runs import GradesState as GradesState
from annotator.evaluation.inspection.scored_runs import Names, ScoredRuns, score_inspected, settle_said, state_of
from annotator.evaluation.inspection.topic_look import TopicLook, look_at_topic, look_at_topics
from annotator.evaluation.metrics.measures import Better, Measure
from annotator.evaluation.metrics.names import parse_measure, parse_measures
from annotator.evaluation.natural_order import natural_order
from annotator.evaluation.rankings import decode_scores
from annotator.evaluation.settling import rules_of
from annotator.storage import Collection
from annotator.storage.accounts import find_user
from annotator.storage.collection import accepted_topics, find_collection, scale_of
from annotator.storage.documents import docnos_of
from annotator.storage.inspecting import ListedRun, listed_runs, packed_scores, require_in_force, searchers_of
from annotator.storage.kept_grades import LIVE as LIVE
from annotator.storage.kept_grades import kept_grades
from annotator.storage.opinions import opinions

USUAL_MEASURE = "nDCG@10"
USUAL_TOP = 10
MOST_TOP = 1_000
USUAL_SEED = 1


@dataclass(frozen=True)
class GradesChosen:
    """By which grades to score: a version that was kept, one judge's word, or what a policy settles now.

    A version goes before a judge, a judge before a policy; None is the collection's own policy.
    """

    qrels: str = LIVE
    judge: str | None = None
    policy: str | None = None


OWN_GRADES = GradesChosen()


@dataclass(frozen=True)
class Choices:
    """By what was scored, and what else can be looked at: runs and topics in natural order."""

    state: GradesState
    measure: str  # the first
    better: Better
    tags: tuple[str, ...]
    topics: tuple[str, ...]


@dataclass(frozen=True)
class InspectedRun:
    """One run; `docnos` names the documents."""

    choices: Choices
    look: RunLook
    team: str | None
    docnos: Mapping[int, str]


@dataclass(frozen=True)
class InspectedTopics:
    """How hard each topic is."""

    choices: Choices
    difficulties: tuple[Difficulty, ...]


@dataclass(frozen=True)
class InspectedTopic:
    """One topic; `searchers` are those who found a document by searching."""

    choices: Choices
    look: TopicLook
    docnos: Mapping[int, str]
    searchers: Mapping[int, tuple[str, ...]]


@dataclass(frozen=True)
class InspectedPair:
    """Two runs."""

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
    grades: GradesChosen = OWN_GRADES,
) -> InspectedRun:
    """Look at a run in force: unjudged documents to rank `top`, and one topic's curve point by point.

    Raises `NotFoundError` for an unknown run, topic, judge or version, `InvalidValueError` for a measure, rank or
    policy there is not, and `ConflictError` for a withdrawn run and while nothing can be scored.
    """
    _check_top(top)
    scored, runs = _score(session, slug, grades, [parse_measure(measure)], [tag])
    run = next(run for run in runs if run.tag == tag)
    scores = {id_: decode_scores(packed) for id_, packed in packed_scores(session, run.id).items()}
    look = look_at_run(scored, tag, scores, top=top, topic=topic)
    docnos = docnos_of(session, {one.document for one in look.unjudged})
    return InspectedRun(_choices(scored), look, run.team, docnos)


def inspect_topics(
    session: Session, slug: str, *, measure: str = USUAL_MEASURE, grades: GradesChosen = OWN_GRADES
) -> InspectedTopics:
    """Say how hard each topic is that is scored; raises as `inspect_run`."""
    scored, _ = _score(session, slug, grades, [parse_measure(measure)])
    return InspectedTopics(_choices(scored), look_at_topics(scored))


def inspect_topic(
    session: Session,
    slug: str,
    number: str,
    *,
    measure: str = USUAL_MEASURE,
    depth: int | None = None,
    grades: GradesChosen = OWN_GRADES,
) -> InspectedTopic:
    """Look at a topic; its documents count as found within a depth of the runs, or anywhere.

    Raises as `inspect_run`.
    """
    if depth is not None:
        _check_top(depth)
    scored, _ = _score(session, slug, grades, [parse_measure(measure)])
    look = look_at_topic(scored, number, depth=depth)
    docnos = docnos_of(session, {one.document for one in look.found.documents})
    searchers = searchers_of(session, scored.topics[scored.topic(number)])
    return InspectedTopic(_choices(scored), look, docnos, searchers)


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
    """Compare two runs in force; `topics` are those whose documents are listed, as `look_at_pair` takes them.

    Raises as `inspect_run`, and `InvalidValueError` for a run and itself and for a seed below 0.
    """
    _check_top(top)
    if seed < 0:
        raise InvalidValueError("A seed is a whole number from 0, not %(given)d.", given=seed)
    if first == second:
        raise InvalidValueError("Two different runs can be compared, not %(tag)s with itself.", tag=first)
    scored, _ = _score(session, slug, grades, parse_measures(measures), [first, second])
    look = look_at_pair(scored, first, second, seed=seed, top=top, topics=topics)
    docnos = docnos_of(session, {one.document for moved in look.moved for one in moved.documents})
    return InspectedPair(_choices(scored), look, docnos)


def _score(
    session: Session, slug: str, grades: GradesChosen, measures: Sequence[Measure], tags: Sequence[str] = ()
) -> tuple[ScoredRuns, list[ListedRun]]:
    """Score every run in force over the accepted topics with a grade; `tags` are runs that must be among them."""
    collection = find_collection(session, slug)
    for tag in tags:
        require_in_force(session, collection.id, tag)
    qrels, source, policy, fingerprint = _grades(session, collection, grades)
    if not qrels:
        raise ConflictError("Nothing is judged yet, so there is nothing to score against.")
    runs = listed_runs(session, collection.id, qrels)
    docnos = docnos_of(session, {document for of_topic in qrels.values() for document in of_topic})
    numbers = accepted_topics(session, collection.id)
    names = Names(numbers, docnos)
    state = state_of(qrels, names, source, policy, collection.relevant_from, fingerprint=fingerprint)
    best_grade = scale_of(session, collection.id)[-1].value
    return score_inspected(runs, qrels, state, numbers, measures, best_grade), runs


def _grades(
    session: Session, collection: Collection, chosen: GradesChosen
) -> tuple[dict[int, dict[int, int]], str, str | None, str | None]:
    """The grades by topic id and document id, whose they are, the policy that settled them, a version's SHA-256."""
    if chosen.qrels != LIVE:
        kept = kept_grades(session, collection.id, chosen.qrels)
        qrels: dict[int, dict[int, int]] = {}
        for (topic, document), grade in kept.grades.items():
            qrels.setdefault(topic, {})[document] = grade
        return qrels, chosen.qrels, kept.policy, kept.fingerprint
    rules = rules_of(collection, chosen.policy if chosen.judge is None else ONE_JUDGE + chosen.judge)
    judge = judge_of(rules.policy)
    if judge is not None:
        find_user(session, judge)
    said = opinions(session, collection.id, machines=rules.hears_machines)
    settled = settle_said(said, rules)
    return (settled, LIVE, rules.policy, None) if chosen.judge is None else (settled, chosen.judge, None, None)


def _choices(scored: ScoredRuns) -> Choices:
    return Choices(
        scored.state,
        str(scored.measures[0]),
        scored.better,
        tuple(sorted(scored.tags, key=natural_order)),
        tuple(sorted(scored.numbers, key=natural_order)),
    )


def _check_top(top: int) -> None:
    if not 1 <= top <= MOST_TOP:
        raise InvalidValueError("A rank is from 1 to %(most)d, not %(given)d.", most=MOST_TOP, given=top)
