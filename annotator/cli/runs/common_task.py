"""The choice between one task and all of them, in commands that compare two runs."""

import click

all_tasks_option = click.option(
    "--all-tasks", is_flag=True, help="Compare runs of different tasks, on the topics of all tasks."
)


def refuse_task_and_all(task: str | None, *, all_tasks: bool) -> None:
    """Raise a usage error for both options."""
    if task is not None and all_tasks:
        raise click.UsageError("Give --task or --all-tasks, not both.")
