"""Holes: unjudged documents in the top of the runs, and the judgements needed to fill them."""

from collections.abc import Container, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, Sentence
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.leaderboard.graded_runs import (
    Cell,
    Pair,
    QrelsState,
    documents_by_topic,
    state_of,
)
from annotator.evaluation.leaderboard.scoring_scope import no_run, pairs_within, topics_within
from annotator.evaluation.reusability.holes import DEPTHS, Holes, RunHoles, find_holes
from annotator.evaluation.runs.rankings import decode_documents
from annotator.storage.collections.collection import accepted_topics, find_collection
from annotator.storage.judging.progress import Effort, judging_effort
from annotator.storage.pools.pools import pool_item_ids
from annotator.storage.runs.runs import lists_of_runs
from annotator.workflows.judging.topic_judgements import settled_grades
from annotator.workflows.runs.scoring_scope import counting_notices, task_scope

GREATEST_DEPTH = 1_000_000
EVERY_TASK = Sentence(
    "This collection has tasks. The runs of every task are counted here, each on the topics for which it has documents."
)


@dataclass(frozen=True)
class Filling:
    """The holes of all runs down to a depth: documents already in the pool, and others."""

    depth: int
    pooled: int
    new: int
    topics: int  # topics with a hole

    @property
    def documents(self) -> int:
        """The number of all these documents."""
        return self.pooled + self.new


@dataclass(frozen=True)
class HolesReport:
    """The runs by name, each with its holes by depth, over all accepted topics, or those of a task, judged or not."""

    state: QrelsState
    depths: tuple[int, ...]
    runs: tuple[tuple[RunHoles, ...], ...]
    fillings: tuple[Filling, ...]
    topics: int
    effort: Effort
    notices: tuple[Sentence, ...] = ()

    def hours(self, filling: Filling) -> float:
        """The hours of judging that documents outside the pool would add."""
        return self.effort.hours(self._judgements(filling))

    def price(self, filling: Filling) -> float | None:
        """The pay for these hours; None when the collection states no pay."""
        return self.effort.price(self._judgements(filling))

    def _judgements(self, filling: Filling) -> int:
        return round(filling.new * self.effort.judgements_wanted)

    def table(self) -> tuple[list[str], list[list[Cell]]]:
        """Headings and rows, one per run and depth."""
        headings = ["run", "depth", "shown", "unjudged", "share", "topics"]
        rows = [one for of_run in self.runs for one in of_run]
        return headings, [[one.tag, one.depth, one.shown, one.unjudged, one.share.value, one.topics] for one in rows]

    def file(self) -> tuple[list[str], list[list[Cell]]]:
        """The table with the state of the qrels in every row."""
        return self.state.beside(*self.table())


def holes_report(
    session: Session, slug: str, depths: Sequence[int] = DEPTHS, *, task: str | None = None
) -> HolesReport:
    """Count documents without a settled grade in the top of every active run.

    With a `task`, its key, only of its runs on its topics. Raises `InvalidValueError` for a depth below 1 or too great,
    `NotFoundError` for an unknown task, and `ConflictError` when there is no run.
    """
    if max(depths, default=0) > GREATEST_DEPTH:
        raise InvalidValueError(
            "A depth is at most %(most)d, not %(given)d.", most=GREATEST_DEPTH, given=max(depths, default=0)
        )
    collection = find_collection(session, slug)
    scope = task_scope(session, collection.id, task)
    topics = topics_within(scope, accepted_topics(session, collection.id))
    of_runs = sorted(
        lists_of_runs(session, collection.id, topics, runs_of=scope.runs if scope else None),
        key=lambda run: natural_order(run.tag),
    )
    if not of_runs:
        raise ConflictError("There is no run yet.") if scope is None else no_run(scope)
    grades = pairs_within(scope, settled_grades(session, collection))
    judged = documents_by_topic(grades, topics)
    lists = [{topic: decode_documents(packed) for topic, packed in run.lists.items()} for run in of_runs]
    holes = find_holes([run.tag for run in of_runs], lists, judged, depths=sorted(set(depths)))
    pooled = pool_item_ids(session, collection.id).keys()
    fillings = tuple(_filling(holes, depth, pooled) for depth in holes.depths)
    state = state_of("live", collection.consensus_policy, grades, scope=scope)
    effort, notices = judging_effort(session, collection), counting_notices(session, collection.id, scope, EVERY_TASK)
    return HolesReport(state, holes.depths, holes.runs, fillings, len(topics), effort, notices)


def _filling(holes: Holes, depth: int, pooled: Container[Pair]) -> Filling:
    candidates = holes.candidates(depth)
    known = [(topic, document) in pooled for topic, documents in candidates.items() for document in documents.tolist()]
    return Filling(depth, sum(known), len(known) - sum(known), len(candidates))
