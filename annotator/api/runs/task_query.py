"""The task whose runs a report is about."""

from marshmallow import Schema

from annotator.api.site.values import Text


class TaskQuery(Schema):
    """Whether only the runs of one task count."""

    task = Text(
        load_default=None,
        metadata={"description": "Only the runs of this task, by its key, on the topics of the task."},
    )
