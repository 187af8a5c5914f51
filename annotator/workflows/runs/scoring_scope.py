"""What of a collection is scored: the round and the task to choose from, and the chosen ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy.orm import Session

from annotator.errors import NotFoundError, Sentence
from annotator.evaluation.leaderboard.leaderboard_notices import EVERY_ROUND, EVERY_TASK
from annotator.evaluation.leaderboard.scoring_scope import ScoringScope, notices_within, topics_within
from annotator.storage.collections.collection import accepted_topics, find_collection, rounds_of
from annotator.storage.leaderboard.scored_task import facts_of_task
from annotator.storage.qrels.qrels_versions import facts_of_round, judged_before_round
from annotator.storage.runs.tasks import tasks_of


@dataclass(frozen=True)
class TaskChoice:
    """A task to choose."""

    key: str
    title: str


@dataclass(frozen=True)
class ScopeChoices:
    """The rounds and tasks to choose from; empty for a collection that has none."""

    rounds: tuple[int, ...] = ()
    tasks: tuple[TaskChoice, ...] = ()

    def of_every_run(self, number: int | None = None, task: str | None = None) -> tuple[Sentence, ...]:
        """The notices that the runs of every round, and those of every task, are scored where none is chosen."""
        tasks = (EVERY_TASK,) if self.tasks and task is None else ()
        return (*tasks, EVERY_ROUND) if self.rounds and number is None else tasks


NO_SCOPES = ScopeChoices()


def scope_choices(session: Session, slug: str) -> ScopeChoices:
    """The rounds and tasks of a collection."""
    return choices_of_collection(session, find_collection(session, slug).id)


def choices_of_collection(session: Session, collection_id: int) -> ScopeChoices:
    """The rounds, oldest first, and the tasks, in the order in which they were added."""
    return ScopeChoices(
        tuple(one.number for one in rounds_of(session, collection_id)),
        tuple(TaskChoice(task.key, task.title) for task in tasks_of(session, collection_id)),
    )


def scope_notices(session: Session, collection_id: int, scope: ScoringScope | None) -> tuple[Sentence, ...]:
    """The notices about the scored round and task, or about the runs of every one where none is chosen."""
    number, task = (None, None) if scope is None else (scope.round, scope.task)
    every = choices_of_collection(session, collection_id).of_every_run(number, task)
    return (*notices_within(scope), *every)


def task_notices(session: Session, collection_id: int, scope: ScoringScope | None) -> tuple[Sentence, ...]:
    """The notice about the task whose runs are scored, or about every one where there are tasks and none is chosen."""
    if scope is not None:
        return notices_within(scope)
    return (EVERY_TASK,) if tasks_of(session, collection_id) else ()


def counting_notices(
    session: Session, collection_id: int, scope: ScoringScope | None, every: Sentence
) -> tuple[Sentence, ...]:
    """The notice about the task whose runs are counted; `every` where there are tasks and none is chosen."""
    if scope is not None:
        return (Sentence("Only the runs of the task “%(task)s” are counted, on its topics.", {"task": scope.task}),)
    return (every,) if tasks_of(session, collection_id) else ()


def topics_of_scope(
    session: Session, collection_id: int, scope: ScoringScope | None, numbers: Sequence[str] | None
) -> Mapping[int, str]:
    """Topic id → number of the accepted topics that are scored, or of these among them.

    Raises `NotFoundError` for a number that is none, or that is not a topic of the task.
    """
    found = accepted_topics(session, collection_id, numbers)
    left = topics_within(scope, found)
    outside = [number for id_, number in found.items() if id_ not in left]
    if scope is not None and numbers is not None and outside:
        raise NotFoundError(
            "The topic “%(number)s” is not one of the task “%(task)s”.", number=outside[0], task=scope.task
        )
    return left


def find_scope(
    session: Session,
    collection_id: int,
    number: int | None,
    *,
    residual: bool,
    task: str | None = None,
    as_kept: int | None = None,
) -> ScoringScope | None:
    """The scope of a round, of a task, or of a task in a round; None for neither.

    With `as_kept`, a qrels version, it is the scope at the time when that was kept. Raises `NotFoundError` for an
    unknown round or task.
    """
    of_round = facts_of_round(session, collection_id, number, residual=residual, as_kept=as_kept)
    of_task = facts_of_task(session, collection_id, task)
    if of_round is None:
        return None if of_task is None else ScoringScope(of_task.runs, task=of_task.key, topics=of_task.topics)
    scope = ScoringScope(of_round.runs, of_round.number, of_round.residual, of_round.kept, of_round.mark)
    if of_task is None:
        return scope
    return replace(scope, runs=scope.runs & of_task.runs, task=of_task.key, topics=of_task.topics)


def with_judged_before(
    session: Session, collection_id: int, scope: ScoringScope | None, *, as_kept: int | None = None
) -> ScoringScope | None:
    """The scope with the documents judged before the round, if these are removed."""
    if scope is None or scope.round is None or not scope.residual:
        return scope
    judged = judged_before_round(session, collection_id, scope.round, as_kept=as_kept)
    return replace(scope, judged=scope.topics_left(judged))


def whole_scope(
    session: Session, collection_id: int, number: int | None, *, residual: bool, task: str | None = None
) -> ScoringScope | None:
    """The complete scope of a round or task; None for neither, `NotFoundError` for an unknown one."""
    scope = find_scope(session, collection_id, number, residual=residual, task=task)
    return with_judged_before(session, collection_id, scope)


def task_scope(session: Session, collection_id: int, task: str | None) -> ScoringScope | None:
    """The scope of a task in every round; None without one, `NotFoundError` for an unknown one."""
    return find_scope(session, collection_id, None, residual=False, task=task)
