"""The task in which two runs are compared where none is named: that to which both belong."""

from dataclasses import replace

from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError, Sentence
from annotator.storage.collections.collection import find_collection
from annotator.storage.runs.sent_runs import sent_runs
from annotator.storage.tables.runs import RunState
from annotator.workflows.leaderboard.inspecting import GradesChosen

NO_TASK = Sentence("no task")


def in_common_task(
    session: Session, slug: str, first: str, second: str, grades: GradesChosen, *, all_tasks: bool = False
) -> GradesChosen:
    """The grades to score two active runs by: without a task, and without `all_tasks`, in that of both runs.

    They stay as they are for runs that belong to none and for one that is not there, which the comparison refuses.
    Raises `InvalidValueError` for runs of different tasks, and for a task together with `all_tasks`.
    """
    if all_tasks and grades.task is not None:
        raise InvalidValueError("Name a task or ask for all tasks, not both.")
    if all_tasks or grades.task is not None:
        return grades
    collection_id = find_collection(session, slug).id
    tasks = {run.tag: run.task for run in sent_runs(session, collection_id) if run.state == RunState.IN_FORCE}
    if first not in tasks or second not in tasks or tasks[first] == tasks[second]:
        return replace(grades, task=tasks.get(first) if second in tasks else None)
    raise InvalidValueError(
        "The runs are of different tasks (%(first)s: %(own)s; %(second)s: %(other)s). Compare runs of one task, or ask "
        "for all tasks (all_tasks).",
        first=first,
        own=tasks[first] or NO_TASK,
        second=second,
        other=tasks[second] or NO_TASK,
    )
