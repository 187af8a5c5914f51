"""Options that say how judging is shared out and how several grades of a document become one."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from annotator.storage import JudgingMode
from annotator.workflows.collections.collection import CollectionChange
from annotator.workflows.collections.queue_settings import QueueChange, read_mode

consensus_help = (
    "How several grades become one: owner, owner-else-majority (the majority's grade where the owner gave none), "
    "majority, majority-first (of a tie the first judge's grade), median, lowest, highest, any-relevant or "
    "all-relevant; each also as adjudicated-else-…, by which an adjudicator's grade decides; or judge:NAME, one "
    "judge's grades alone."
)

CONSENSUS_OPTIONS = (
    click.option("--consensus", metavar="POLICY", help=consensus_help),
    click.option(
        "--leave-out-disputed/--settle-disputed",
        "disputed",
        default=None,
        help="Whether documents whose judges differ stay out of the qrels until an adjudicator decides, or are settled "
        "by the policy.",
    ),
    click.option(
        "--count-machines/--leave-out-machines",
        "machines",
        default=None,
        help="Whether the grades of machines are settled into the qrels beside those of people.",
    ),
    click.option(
        "--show-grades/--hide-grades",
        "grades",
        default=None,
        help="Whether an adjudicator sees the grades that differ; never whose they are.",
    ),
)


QUEUE_OPTIONS = (
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
        **options: Any,  # noqa: ANN401 - passed on as given
    ) -> None:
        queue = QueueChange(None if mode is None else read_mode(mode), overlap, reshow, common)
        command(*args, queue=queue, **options)

    described: Callable[..., None] = with_queue
    for option in reversed(QUEUE_OPTIONS):
        described = option(described)
    return described


def describes_consensus(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command these options, and hand it what they say as `consensus`."""

    @wraps(command)
    def with_consensus(
        *args: Any,  # noqa: ANN401 - whatever the command takes
        consensus: str | None,
        disputed: bool | None,
        machines: bool | None,
        grades: bool | None,
        **options: Any,  # noqa: ANN401 - passed on as given
    ) -> None:
        said = CollectionChange(
            consensus_policy=consensus,
            leaves_out_disputed=disputed,
            counts_machines=machines,
            shows_grades=grades,
        )
        command(*args, consensus=said, **options)

    described: Callable[..., None] = with_consensus
    for option in reversed(CONSENSUS_OPTIONS):
        described = option(described)
    return described
