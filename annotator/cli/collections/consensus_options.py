"""The options that say what becomes of several grades of one document, when a collection is changed."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from annotator.workflows.collections.collection import CollectionChange

consensus_help = (
    "How several grades become one: owner, owner-else-majority (the majority's grade where the owner gave none), "
    "majority, majority-first (of a tie the first judge's grade), median, lowest, highest, any-relevant or "
    "all-relevant; each also as adjudicated-else-…, by which an adjudicator's grade decides; or judge:NAME, one "
    "judge's grades alone."
)
OPTIONS = (
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


def describes_consensus(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command these options, and hand it what they say as `consensus`."""

    @wraps(command)
    def with_consensus(
        *args: Any,  # noqa: ANN401 - whatever the command takes
        consensus: str | None,
        disputed: bool | None,
        machines: bool | None,
        grades: bool | None,
        **options: Any,  # noqa: ANN401 - likewise
    ) -> None:
        said = CollectionChange(
            consensus_policy=consensus,
            leaves_out_disputed=disputed,
            counts_machines=machines,
            shows_grades=grades,
        )
        command(*args, consensus=said, **options)

    described: Callable[..., None] = with_consensus
    for option in reversed(OPTIONS):
        described = option(described)
    return described
