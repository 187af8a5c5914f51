"""The task in which two runs are compared where a command names none: that to which both belong."""

from collections.abc import Mapping

import click

all_tasks_option = click.option(
    "--all-tasks", is_flag=True, help="Compare runs of different tasks, on the topics of all tasks."
)


def task_of_comparison(tasks: Mapping[str, str | None], first: str, second: str | None) -> str | None:
    """The task of both runs, by the tasks of the active runs, or of the first run alone.

    None where neither has one, and for a run that is not there: the comparison says so. Raises a usage error for runs
    of different tasks.
    """
    if first not in tasks or (second is not None and second not in tasks):
        return None
    own, other = tasks[first], tasks[first if second is None else second]
    if own != other:
        raise click.UsageError(
            f"{first} belongs to {_named(own)} and {second} to {_named(other)}: they are compared in no one task. "
            "Compare runs of one task, or give --all-tasks."
        )
    return own


def refuse_task_and_all(task: str | None, *, all_tasks: bool) -> None:
    """Raise a usage error for both options."""
    if task is not None and all_tasks:
        raise click.UsageError("Give --task or --all-tasks, not both.")


def _named(task: str | None) -> str:
    return "no task" if task is None else f"the task {task}"
