"""Overlap of the top of the runs, and relevant documents by team."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, Sentence
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.leaderboard.scoring_scope import ScoringScope, no_run, topics_within
from annotator.evaluation.pooling.run_overlap import (
    Pair,
    TeamShare,
    closest_runs,
    in_similar_order,
    overlap_matrix,
    shares_between,
    team_shares,
)
from annotator.evaluation.pooling.strategies import LEARNING
from annotator.evaluation.runs.rankings import decode_documents
from annotator.storage import IN_FORCE, Collection, Run, Team
from annotator.storage.collections.collection import accepted_topics, find_collection
from annotator.storage.judging.adaptive_choices import chosen_documents
from annotator.storage.pools.pool_items import contributed_documents
from annotator.storage.runs.runs import ListsOfRun, lists_of_runs
from annotator.storage.tables.tasks import Task
from annotator.workflows.judging.topic_judgements import settled_grades
from annotator.workflows.runs.scoring_scope import counting_notices, task_scope

USUAL_DEPTH = 10
GREATEST_DEPTH = 1_000
# The documents that the strategy `cal` chose, among the teams.
CLASSIFIER = "classifier (cal)"
# More cannot be read in a picture; the file has all.
MOST_RUNS_SHOWN = 40
EVERY_TASK = Sentence(
    "This collection has tasks. The runs of every task are compared here, two of different tasks on the topics for "
    "which both have documents."
)
# Of a topic that several tasks share, one pool is judged.
OF_EVERY_TASK = Sentence(
    "By team, the documents contributed to the pool are those of its runs of every task; the relevant ones are those "
    "that its runs of this task found."
)

Table = tuple[tuple[str, ...], list[tuple[str | int | float | None, ...]]]


class OverlapPart(StrEnum):
    """The tables of the report."""

    RUNS = "runs"
    TEAMS = "teams"


@dataclass(frozen=True)
class Likeness:
    """Two runs, and the share of their top documents that they have in common."""

    first: str
    second: str
    share: float


@dataclass(frozen=True)
class OverlapReport:
    """Runs with much in common are neighbours in `tags`; `shares` has a row a run, None without a common topic.

    Both have at most 40 runs, unless all of the `runs` were asked for. `closest` are the two runs with most in common,
    among all. `task` is the key where the runs of one were compared.
    """

    depth: int
    runs: int
    tags: tuple[str, ...]
    shares: tuple[tuple[float | None, ...], ...]
    closest: Likeness | None
    relevant: int
    teams: tuple[TeamShare, ...]
    task: str | None = None
    notices: tuple[Sentence, ...] = ()

    def file(self, part: OverlapPart) -> Table:
        """The table with the task, if there is one, in every row."""
        headings, rows = self.table(part)
        return (headings, rows) if self.task is None else ((*headings, "task"), [(*row, self.task) for row in rows])

    def table(self, part: OverlapPart) -> Table:
        """Headings and rows: the share of every two runs, once, or the figures of every team."""
        if part is OverlapPart.TEAMS:
            headings = tuple(one.name for one in fields(TeamShare))
            return headings, [tuple(getattr(one, name) for name in headings) for one in self.teams]
        return ("first", "second", "share"), [
            (first, self.tags[at], self.shares[row][at])
            for row, first in enumerate(self.tags)
            for at in range(row + 1, len(self.tags))
        ]


def overlap_report(
    session: Session, slug: str, depth: int = USUAL_DEPTH, *, with_all: bool = False, task: str | None = None
) -> OverlapReport:
    """Compare the top of the active runs, and count the relevant documents of each team by the current qrels.

    A run without a team counts as a team of its own, and so does a classifier, with what it chose. With a `task`, its
    key, only its runs are compared, on its topics; contributions to these topics are those of all runs. Raises
    `InvalidValueError` for a depth out of range, `NotFoundError` for an unknown task, and `ConflictError` when there is
    no run.
    """
    if not 1 <= depth <= GREATEST_DEPTH:
        raise InvalidValueError("A depth is from 1 to %(most)d, not %(given)d.", most=GREATEST_DEPTH, given=depth)
    collection = find_collection(session, slug)
    scope = task_scope(session, collection.id, task)
    of_runs = _runs(session, collection.id, scope)
    lists = [{topic: decode_documents(packed) for topic, packed in run.lists.items()} for run in of_runs]
    tags = [run.tag for run in of_runs]
    senders = _senders(session, collection.id)
    teams = [senders[tag].team or tag for tag in tags]
    matrix = overlap_matrix(lists, depth, [senders[tag].task for tag in tags])
    order = in_similar_order(matrix, list(range(len(tags))) if with_all else _shown(teams))
    closest = closest_runs(matrix)
    relevant = topics_within(scope, _relevant(session, collection))
    learned = topics_within(scope, chosen_documents(session, collection.id, LEARNING))
    shares = team_shares(
        teams,
        lists,
        _contributed(session, collection.id, scope),
        relevant,
        {CLASSIFIER: learned} if learned else {},
    )
    notices = counting_notices(session, collection.id, scope, EVERY_TASK)
    return OverlapReport(
        depth,
        len(tags),
        tuple(tags[one] for one in order),
        tuple(map(tuple, shares_between(matrix, order))),
        None if closest is None else Likeness(tags[closest[0]], tags[closest[1]], closest[2]),
        sum(map(len, relevant.values())),
        tuple(shares),
        task,
        notices if scope is None else (*notices, OF_EVERY_TASK),
    )


def _runs(session: Session, collection_id: int, scope: ScoringScope | None) -> list[ListsOfRun]:
    """The active runs, or those of a task, by name; raises `ConflictError` without any."""
    topics = topics_within(scope, accepted_topics(session, collection_id))
    of_runs = lists_of_runs(session, collection_id, topics, runs_of=scope.runs if scope else None)
    if not of_runs:
        raise ConflictError("There is no run yet.") if scope is None else no_run(scope)
    return sorted(of_runs, key=lambda run: natural_order(run.tag))


def _shown(teams: Sequence[str]) -> list[int]:
    """The places of at most 40 runs, in turn of each team."""
    before: dict[str, int] = defaultdict(int)
    turns = []
    for place, team in enumerate(teams):
        turns.append((before[team], place))
        before[team] += 1
    return sorted(place for _, place in sorted(turns)[:MOST_RUNS_SHOWN])


class _Sender(NamedTuple):
    team: str | None
    task: str | None


def _senders(session: Session, collection_id: int) -> dict[str, _Sender]:
    """Tag of each active run → its team and the key of its task, if it has them."""
    rows = session.execute(
        select(Run.tag, Team.name, Task.key)
        .outerjoin(Team, Team.id == Run.team_id)
        .outerjoin(Task, Task.id == Run.task_id)
        .where(Run.collection_id == collection_id, IN_FORCE)
    )
    return {tag: _Sender(team, task) for tag, team, task in rows}


def _contributed(session: Session, collection_id: int, scope: ScoringScope | None) -> Mapping[str, set[Pair]]:
    documents: dict[str, set[Pair]] = defaultdict(set)
    for one in contributed_documents(session, collection_id):
        if scope is None or scope.topics is None or one.topic_id in scope.topics:
            documents[one.team or one.tag].add((one.topic_id, one.document_id))
    return documents


def _relevant(session: Session, collection: Collection) -> dict[int, list[int]]:
    """Topic id → its relevant documents by the current qrels."""
    settled = settled_grades(session, collection)
    found: dict[int, list[int]] = defaultdict(list)
    for (topic, document), grade in settled.items():
        if grade >= collection.relevant_from:
            found[topic].append(document)
    return found
