"""The effect of disagreement on rankings: runs scored by each judge, by each policy, and by mixtures of judges."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from math import comb
from operator import attrgetter

from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError, Sentence
from annotator.evaluation.agreement.judge_effect import (
    Comparison,
    GivenGrades,
    MixtureEffect,
    compare,
    count_differing,
    grades_of_items,
    judges_in_common,
    mix_judges,
    steps_of_mixing,
)
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.leaderboard.leaderboard_notices import sample_notices
from annotator.evaluation.leaderboard.rescoring import NOT_GRADED, RegradedRuns, Scoring
from annotator.evaluation.leaderboard.scoring_scope import ScoringScope, no_run, nothing_judged
from annotator.evaluation.metrics.names import USUAL_MEASURE, measure_on_scale
from annotator.evaluation.qrels.consensus import (
    ADJUDICATED_ELSE,
    NAMED_POLICIES,
    asks_for_owner,
    parse_policy,
)
from annotator.evaluation.qrels.samples import samples_of
from annotator.evaluation.qrels.settling import Rules, opinions_of, rules_of, settle_columns
from annotator.evaluation.runs.rankings import decode_documents
from annotator.storage import Collection
from annotator.storage.collections.collection import find_collection, scale_of
from annotator.storage.pools.pools import drawn_sample, strata_of
from annotator.storage.qrels.current_grades import OpinionRow, of_people, opinions
from annotator.storage.runs.runs import lists_of_runs
from annotator.workflows.runs.scoring_scope import task_notices, task_scope, topics_of_scope

USUAL_DRAWS = 1_000
MOST_DRAWS = 10_000
USUAL_SEED = 1
MOST_PAIRS = 60  # the pairs of judges with most documents in common

Watch = Callable[[int], AbstractContextManager[Callable[[], None]]]


@dataclass(frozen=True)
class EffectRequest:
    """The request: the measure, the topics (None for all), and how mixtures of judges are drawn.

    With a `task`, its key, only its runs are ranked, on its topics.
    """

    measure: str = USUAL_MEASURE
    topics: Sequence[str] | None = None
    draws: int = USUAL_DRAWS
    seed: int = USUAL_SEED
    task: str | None = None


@dataclass(frozen=True)
class PairEffect:
    """The ranking under each of two judges alone, on the documents both graded."""

    first: str
    second: str
    comparison: Comparison


@dataclass(frozen=True)
class PolicyEffect:
    """The ranking under the collection's own policy and under another, each on all documents that it settles."""

    policy: str
    sentence: Sentence
    differing: int  # documents whose grade differs, or that only one of the two policies settles
    comparison: Comparison


NOTHING_TO_MIX = Sentence("No document has grades of two judges, so that there is nothing to mix or compare.")


@dataclass(frozen=True)
class JudgeEffect:
    """The effect of disagreement on the runs; `tags` gives the order of the values in each comparison."""

    measure: str
    tags: tuple[str, ...]
    judges: tuple[str, ...]
    topics: tuple[str, ...]  # those with a graded document
    pairs: tuple[PairEffect, ...]
    pairs_left_out: int
    pairs_apart: int  # pairs without a document in common
    own_policy: str
    policies: tuple[PolicyEffect, ...]
    mixture: MixtureEffect | None
    notices: tuple[Sentence, ...]  # on tasks, and if the pool is a sample
    task: str | None = None  # the key, when runs of one task are ranked


def _unwatched(_steps: int) -> AbstractContextManager[Callable[[], None]]:
    return nullcontext(lambda: None)


USUAL_REQUEST = EffectRequest()


def judge_effect(
    session: Session, slug: str, request: EffectRequest = USUAL_REQUEST, *, watch: Watch = _unwatched
) -> JudgeEffect:
    """Score every active run under each judge's labels alone, each policy, and random mixtures of judges.

    Judges are people: labels of machines and adjudicators count only under the policies. `watch` gets the number of
    steps and returns a function to call after each. Raises `InvalidValueError` for an unknown measure or numbers out of
    range, `NotFoundError` for an unknown topic or task, and `ConflictError` while there is no grade or no run.
    """
    _check(request)
    collection = find_collection(session, slug)
    best_grade = scale_of(session, collection.id)[-1].value
    measure = measure_on_scale(request.measure, best_grade)
    scope = task_scope(session, collection.id, request.task)
    numbers = topics_of_scope(session, collection.id, scope, request.topics)
    rows = opinions(session, collection.id, machines=rules_of(collection).counts_machines, topics=numbers)
    if not rows:
        raise nothing_judged(scope)
    joined = _join(session, collection.id, numbers, rows, Scoring(measure, collection.relevant_from, best_grade), scope)
    given = joined.given([row for row in rows if not row.is_machine and not row.adjudicates])
    pairs = judges_in_common(given)
    policies = _other_policies(collection, rows)
    with watch(len(pairs[:MOST_PAIRS]) + len(policies) + steps_of_mixing(joined.runs, given)) as advance:
        of_pairs = [joined.pair(given, first, second, advance) for first, second, _ in pairs[:MOST_PAIRS]]
        of_policies = list(joined.policies(collection, policies, rows, advance))
        mixture = mix_judges(
            *(joined.tags, joined.runs, given, joined.scoring), draws=request.draws, seed=request.seed, advance=advance
        )
    return JudgeEffect(
        measure=str(measure),
        tags=joined.tags,
        judges=given.judges,
        topics=tuple(sorted({numbers[row.topic_id] for row in rows}, key=natural_order)),
        pairs=tuple(pair for pair in of_pairs if pair is not None),
        pairs_left_out=max(len(pairs) - MOST_PAIRS, 0),
        pairs_apart=comb(len(given.judges), 2) - len(pairs),
        own_policy=collection.consensus_policy,
        policies=tuple(of_policies),
        mixture=mixture,
        notices=(
            *task_notices(session, collection.id, scope),
            *sample_notices(drawn_sample(session, collection.id), [measure]),
        ),
        task=request.task,
    )


@dataclass(frozen=True, eq=False)
class _Joined:
    """The runs joined with all graded documents."""

    tags: tuple[str, ...]
    runs: RegradedRuns
    place: Mapping[int, int]  # pool item → entry
    scoring: Scoring

    def given(self, rows: Sequence[OpinionRow]) -> GivenGrades:
        return GivenGrades.of_columns(
            [row.pool_item_id for row in rows], [row.judge for row in rows], [row.grade for row in rows], self.place
        )

    def pair(self, given: GivenGrades, first: int, second: int, advance: Callable[[], None]) -> PairEffect | None:
        comparison = compare(self.tags, self.runs, given.of(first), given.of(second), self.scoring)
        advance()
        return None if comparison is None else PairEffect(given.judges[first], given.judges[second], comparison)

    def policies(
        self, collection: Collection, others: Sequence[str], rows: Sequence[OpinionRow], advance: Callable[[], None]
    ) -> Iterator[PolicyEffect]:
        given = opinions_of(rows)
        of_own = grades_of_items(settle_columns(given, rules_of(collection)).grades, self.place)
        # A machine named by the collection's own policy counts under that policy only.
        counted = rows if collection.counts_machines else of_people(rows)
        if counted is not rows:
            given = opinions_of(counted)
        own_values = self.runs.means(of_own, self.scoring) if (of_own > NOT_GRADED).any() else None
        for name in others:
            rules = Rules(name, collection.relevant_from)
            settled = grades_of_items(settle_columns(given, rules).grades, self.place)
            comparison = compare(
                *(self.tags, self.runs, of_own, settled, self.scoring), same_documents=False, first_values=own_values
            )
            if comparison is not None:
                yield PolicyEffect(name, parse_policy(name).sentence, count_differing(of_own, settled), comparison)
            advance()


def _check(request: EffectRequest) -> None:
    if not 1 < request.draws <= MOST_DRAWS:
        raise InvalidValueError(
            "The number of draws is from 2 to %(most)d, not %(given)d.", most=MOST_DRAWS, given=request.draws
        )
    if request.seed < 0:
        raise InvalidValueError("A seed is a whole number from 0, not %(given)d.", given=request.seed)


def _join(
    session: Session,
    collection_id: int,
    numbers: Mapping[int, str],
    rows: Sequence[OpinionRow],
    scoring: Scoring,
    scope: ScoringScope | None,
) -> _Joined:
    # What reads attributes by itself takes a third of the time.
    pairs = map(attrgetter("topic_id", "document_id"), rows)
    items = dict(zip(map(attrgetter("pool_item_id"), rows), pairs, strict=True))
    topics = {topic_id for topic_id, _ in items.values()}
    of_runs = lists_of_runs(session, collection_id, topics, runs_of=scope.runs if scope else None)
    if not of_runs:
        raise no_run(scope)
    lists = [{topic: decode_documents(packed) for topic, packed in run.lists.items()} for run in of_runs]
    sample = drawn_sample(session, collection_id) if scoring.measure.definition.estimates else None
    samples = samples_of(strata_of(session, sample, numbers))
    runs, place = RegradedRuns.join_items(lists, items, numbers, samples)
    return _Joined(tuple(run.tag for run in of_runs), runs, place, scoring)


def _other_policies(collection: Collection, rows: Sequence[OpinionRow]) -> list[str]:
    """All other policies, except those by owner or adjudicator where no judgement is by one.

    Includes the collection's own policy if that leaves disputed documents out.
    """
    owned, adjudicated = any(row.by_owner for row in rows), any(row.adjudicates for row in rows)
    return [
        name
        for name in NAMED_POLICIES
        if (name != collection.consensus_policy or collection.leaves_out_disputed)
        and (owned or not asks_for_owner(name))
        and (adjudicated or not name.startswith(ADJUDICATED_ELSE))
    ]
