"""What is said of a run beside its file: whose it is, what kind, how soon it is to be pooled."""

from dataclasses import dataclass

from sqlalchemy import inspect
from sqlalchemy.orm import Session

from annotator.storage.collections.rounds import round_of_new_runs
from annotator.storage.people.accounts import find_or_add_team
from annotator.storage.tables.runs import Run, RunType


@dataclass(frozen=True)
class RunDetails:
    """What the file of a run does not say; None leaves a thing as it is, or unsaid of a new run.

    The priority is from 1, the first of the team's to be pooled, on; several runs may share one. The
    round is by its number; of a new run, unless it corrects another, it is the one that is open.
    """

    team: str | None = None
    description: str | None = None
    run_type: RunType | None = None
    priority: int | None = None
    round: int | None = None


def apply_details(session: Session, run: Run, details: RunDetails) -> None:
    """Put what is given on the row; a new team is made."""
    if details.team is not None:
        run.team_id = find_or_add_team(session, run.collection_id, details.team).id
    if details.description is not None:
        run.description = details.description
    if details.run_type is not None:
        run.run_type = details.run_type
    if details.priority is not None:
        run.priority = details.priority
    if details.round is not None or (inspect(run).transient and run.round_id is None):
        run.round_id = round_of_new_runs(session, run.collection_id, details.round)
