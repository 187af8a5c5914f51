"""What of a collection is scored: the round and the task to choose from, and the chosen ones."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.errors import NotFoundError, Sentence
from annotator.evaluation.leaderboard.leaderboard_notices import EVERY_ROUND, EVERY_TASK
from annotator.evaluation.leaderboard.scoring_scope import ScoringScope, not_scored, notices_within
from annotator.storage.collections.collection import find_collection, rounds_of
from annotator.storage.leaderboard.scored_task import RunPlace, facts_of_task, places_of_team
from annotator.storage.qrels.qrels_versions import facts_of_round, judged_before_round
from annotator.storage.runs.sent_runs import SentRun
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


@dataclass(frozen=True)
class TeamScopes:
    """The rounds and tasks in which a team has active runs, and the number of those without a task.

    Where a collection has no tasks, that number is 0.
    """

    choices: ScopeChoices
    places: tuple[RunPlace, ...]
    without_task: int
    others: tuple[str, ...]  # keys of the other tasks

    def task_of(self, task: str | None, number: int | None, run: str | None = None) -> str | None:
        """The requested task; without a request that of a run of the team, by its tag.

        Without either the first in which the team has a run, in the round if one is given. None if the team has no run
        in a task. Raises `NotFoundError` for a task in which it has none.
        """
        keys = [one.key for one in self.choices.tasks]
        if task is not None:
            if task in self.others:
                raise NotFoundError("Your team has no run with released scores in the task “%(task)s”.", task=task)
            return task  # one that does not exist is refused when it is scored
        of_run = next((place.task for place in self.places if place.tag == run), None)
        if of_run is not None:
            return of_run
        in_round = {place.task for place in self.places if number is None or place.round == number}
        return next((key for key in keys if key in in_round), next(iter(keys), None))


def scopes_of_team(session: Session, slug: str, team: str, *, before: datetime) -> TeamScopes:
    """The rounds and tasks in which a team has active runs that were uploaded before that time."""
    collection_id = find_collection(session, slug).id
    places = places_of_team(session, collection_id, team, before=before)
    every = choices_of_collection(session, collection_id)
    keys = {place.task for place in places}
    choices = ScopeChoices(
        tuple(sorted({place.round for place in places if place.round is not None})),
        tuple(one for one in every.tasks if one.key in keys),
    )
    without = sum(place.task is None for place in places) if every.tasks else 0
    return TeamScopes(choices, tuple(places), without, tuple(one.key for one in every.tasks if one.key not in keys))


def own_not_scored(
    tag: str, sent: Sequence[SentRun], released_at: datetime, number: int | None, task: str | None
) -> NotFoundError:
    """The error for a run without a score: why a run of the team has none, and of all others only that it is missing.

    `sent` are the active runs of the team; scored are those of the round and the task, by number and key.
    """
    run = next((one for one in sent if one.tag == tag), None)
    if run is not None and run.uploaded_at >= released_at:
        return NotFoundError("The run “%(tag)s” was sent after the release of the scores and has none.", tag=tag)
    if run is None or (number is None and task is None):
        return NotFoundError("There is no run “%(tag)s” in this collection.", tag=tag)
    if run.task is None and task is not None:
        return NotFoundError("The run “%(tag)s” belongs to no task and has no score.", tag=tag)
    return not_scored(tag, ScoringScope(frozenset(), number, task=task))


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
