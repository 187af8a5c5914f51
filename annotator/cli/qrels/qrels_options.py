"""The options that say which grades go out as qrels, whether they are exported or kept."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import Any

import click

from annotator.cli.site.moment_types import MOMENT
from annotator.cli.site.scoring_options import AS_MINUS_ONE, unjudged_option

OPTIONS = (
    click.option("--policy", metavar="POLICY", help="Settle by this consensus policy, not by the collection's."),
    click.option("--judge", metavar="NAME", help="The grades of one judge."),
    unjudged_option,
    click.option(
        "--at",
        type=MOMENT,
        metavar="TIME",
        help="What was judged by then: “2026-05-01 23:59”, UTC unless a zone follows. Settings, accepted topics and "
        "texts are those of now; judgements that ceased to count because a text came or changed are missing.",
    ),
)


@dataclass(frozen=True)
class GradesAsked:
    """Which grades are to go out."""

    policy: str | None
    judge: str | None
    at: datetime | None
    with_unjudged: bool


NOTHING_ASKED = GradesAsked(None, None, None, with_unjudged=False)


def asks_for_grades(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command these options, and hand it what they say as `grades`."""

    @wraps(command)
    def with_grades(
        *args: Any,  # noqa: ANN401 - whatever the command takes
        policy: str | None,
        judge: str | None,
        unjudged: str,
        at: datetime | None,
        **options: Any,  # noqa: ANN401 - likewise
    ) -> None:
        if policy is not None and judge is not None:
            raise click.UsageError("Give --policy or --judge, not both.")
        asked = GradesAsked(policy, judge, at, unjudged == AS_MINUS_ONE)
        command(*args, grades=asked, **options)

    described: Callable[..., None] = with_grades
    for option in reversed(OPTIONS):
        described = option(described)
    return described
