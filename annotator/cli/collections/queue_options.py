"""The options that say how the work of judging is shared out, whether a collection is added or changed."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from annotator.storage import JudgingMode
from annotator.workflows.collections.queue_settings import QueueChange, read_mode

OPTIONS = (
    click.option(
        "--mode",
        metavar="MODE",
        help=f"{JudgingMode.SHARED}: any judge draws from any topic; {JudgingMode.OWNED}: each topic has an owner "
        "who judges all of it (`annotator assignments`). [shared]",
    ),
    click.option(
        "--overlap",
        type=int,
        metavar="PERCENT",
        help="The share of each topic that one judge more judges, too, for agreement; one judgement more "
        "each. Where the two differ, the consensus policy decides: unless changed, the first judge's grade counts, and "
        "with topic owners the owner's. [0]",
    ),
    click.option(
        "--reshow",
        type=int,
        metavar="PERCENT",
        help="The share of their own documents that judges see again after a day, for self-agreement; one judgement "
        "more each, which changes no grade. [0]",
    ),
    click.option(
        "--common",
        type=int,
        metavar="N",
        help="How many documents of each topic every judge of it judges; N more for each judge and topic. [0]",
    ),
)


def describes_queue(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command these options, and hand it what they say as `queue`."""

    @wraps(command)
    def with_queue(
        *args: Any,  # noqa: ANN401 - whatever the command takes
        mode: str | None,
        overlap: int | None,
        reshow: int | None,
        common: int | None,
        **options: Any,  # noqa: ANN401 - likewise
    ) -> None:
        queue = QueueChange(None if mode is None else read_mode(mode), overlap, reshow, common)
        command(*args, queue=queue, **options)

    described: Callable[..., None] = with_queue
    for option in reversed(OPTIONS):
        described = option(described)
    return described
