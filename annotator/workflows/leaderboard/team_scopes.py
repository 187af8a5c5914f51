"""The rounds and tasks whose scores a team sees: those in which it has runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy.orm import Session

from annotator.errors import NotFoundError
from annotator.evaluation.leaderboard.scoring_scope import ScoringScope, not_scored
from annotator.storage.collections.collection import find_collection
from annotator.storage.leaderboard.scored_task import RunPlace, places_of_team
from annotator.storage.runs.sent_runs import SentRun
from annotator.storage.tables.runs import RunState
from annotator.workflows.runs.scoring_scope import ScopeChoices, choices_of_collection


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


class Restoring(StrEnum):
    """Who can restore a run that its team has withdrawn, if its round is open."""

    TEAM = "team"
    ORGANISERS = "organisers"
    NOBODY = "nobody"

    @classmethod
    def at(cls, until: datetime | None, *, is_closed: bool, now: datetime) -> "Restoring":
        """The team until the deadline for runs, if there is one; nobody in a closed collection."""
        if is_closed:
            return cls.NOBODY
        return cls.TEAM if until is None or now < until else cls.ORGANISERS


def own_not_scored(
    tag: str,
    sent: Sequence[SentRun],
    released_at: datetime,
    number: int | None,
    task: str | None,
    *,
    restoring: Restoring = Restoring.TEAM,
) -> NotFoundError:
    """The error for a run without a score: why a run of the team has none, and of all others only that it is missing.

    `sent` are the active and withdrawn runs of the team; scored are those of the round and the task, by number and key.
    """
    run = next((one for one in sent if one.tag == tag), None)
    if run is not None and run.state == RunState.WITHDRAWN:
        return _withdrawn(run, restoring)
    if run is not None and run.uploaded_at >= released_at:
        return NotFoundError("The run “%(tag)s” was sent after the release of the scores and has none.", tag=tag)
    if run is None or (number is None and task is None):
        return NotFoundError("There is no run “%(tag)s” in this collection.", tag=tag)
    if run.task is None and task is not None:
        return NotFoundError("The run “%(tag)s” belongs to no task and has no score.", tag=tag)
    return not_scored(tag, ScoringScope(frozenset(), number, task=task))


def _withdrawn(run: SentRun, restoring: Restoring) -> NotFoundError:
    """The error for a withdrawn run of the team, which says who can restore it."""
    if restoring is Restoring.NOBODY:
        return NotFoundError("The run “%(tag)s” is withdrawn.", tag=run.tag)
    if restoring is Restoring.TEAM and run.withdrawn_by_team and not run.in_closed_round:
        return NotFoundError("The run “%(tag)s” is withdrawn. Your team can restore it on its page.", tag=run.tag)
    return NotFoundError("The run “%(tag)s” is withdrawn. Only the organisers can restore it.", tag=run.tag)
