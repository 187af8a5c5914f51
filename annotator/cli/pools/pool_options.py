"""The options that describe a pool, for planning and building."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import wraps
from typing import Any

import click

from annotator.cli.site.installation import Installation
from annotator.errors import NotFoundError
from annotator.storage.pools.pools import PoolRequest
from annotator.workflows.pools.pools import USUAL_STRATEGY, with_usual
from annotator.workflows.runs import runs

# Strategy parameters by name of their option; the workflow checks which strategy takes which.
TOLD: Mapping[str, Callable[[Any], Any]] = {
    "depth": click.option("--depth", type=int, metavar="K", help="Use the first K documents of each ranked list."),
    "budget": click.option(
        "--budget",
        type=int,
        metavar="N",
        help=(
            "Judge N documents, divided evenly over the topics; adaptive strategies choose them in addition to "
            "their initial documents."
        ),
    ),
    "per_topic": click.option(
        "--per-topic",
        type=int,
        metavar="N",
        help="Judge N documents of each topic; adaptive strategies choose them in addition to their initial documents.",
    ),
    "until": click.option(
        "--until",
        metavar="RULE",
        help=(
            "Instead of a budget: go on with each topic until this stopping rule says stop, such as knee, "
            "in-a-row(in_a_row=30) or target-set(target=0.9)."
        ),
    ),
    "start_depth": click.option(
        "--start-depth",
        type=int,
        metavar="K",
        help="Start with the first K documents of every run; 0 for none. [usually 10]",
    ),
    "strata": click.option(
        "--strata", metavar="BANDS", help="Bands of ranks with their sampling rates: 1-10:1, 11-50:0.2."
    ),
    "update": click.option(
        "--update",
        metavar="WHICH",
        help=(
            "Update rule: a judgement updates all runs with the document (all) or only the run it was drawn from "
            "(pulled)."
        ),
    ),
    "ties": click.option(
        "--ties",
        metavar="RULE",
        help="Tie-breaking: rrf, first-run or random. [rrf; with maxmean-ns random]",
    ),
    "machine": click.option(
        "--machine",
        metavar="NAME",
        help="Sample, or choose documents, by the labels of this machine judge; their SHA-256 is kept with the pool.",
    ),
    "certainty_depth": click.option(
        "--certainty-depth",
        type=int,
        metavar="K",
        help="Judge the first K documents of every run in any case, beside a sample; 0 for none. [usually 3]",
    ),
    "bands": click.option(
        "--bands", metavar="RANKS", help="The last rank of each band of ranks of a sample. [usually 10, 30]"
    ),
    "allocation": click.option(
        "--allocation",
        metavar="RULE",
        help="How the budget of a sample is divided among strata: neyman, proportional or equal. [neyman]",
    ),
    "candidates": click.option(
        "--candidates",
        metavar="WHICH",
        help="What a classifier chooses from: documents of the runs (pooled) or all with a text (corpus). [pooled]",
    ),
    "batch": click.option(
        "--batch",
        metavar="SIZE",
        help="Judgements between two rounds of training: 1, or a tenth more every round (grow). [grow]",
    ),
}
STRATEGY = click.option(
    "--strategy",
    metavar="NAME",
    help="The pooling strategy; `annotator pool strategies list` lists them. [with --depth alone: depth]",
)
RUNS = (
    click.option(
        "--runs",
        "patterns",
        multiple=True,
        metavar="PATTERN",
        help="Pool only runs with this tag; * ? [...] are wildcards, as in a shell. Repeatable.",
    ),
    click.option(
        "--up-to-priority",
        "priority",
        type=int,
        metavar="P",
        help="Pool only runs with a team priority from 1 to P.",
    ),
    click.option(
        "--per-team",
        type=int,
        metavar="N",
        help="Pool at most N runs of each team, those of the best priority first.",
    ),
    click.option("--depth-of", "depths", multiple=True, metavar="TAG=K", help="Another depth for one run. Repeatable."),
    click.option(
        "--round", "round_number", type=int, metavar="N", help="Pool the runs of this round. [the newest round]"
    ),
)


@dataclass(frozen=True)
class Described:
    """A pool as described by the options."""

    strategy: str
    said: Mapping[str, str | int]
    patterns: Sequence[str]
    priority: int | None
    per_team: int | None
    depths: Sequence[str]
    round_number: int | None

    def request(self, installation: Installation, slug: str) -> PoolRequest:
        """Resolve the run patterns to runs of the collection, and return the request."""
        tags = None
        if self.patterns:
            rows = installation.database.read(runs.list_runs, slug)
            newest = max((run.round for run in rows if run.round is not None), default=None)
            of_round = newest if self.round_number is None else self.round_number
            tags = _fitting([run.tag for run in rows if run.round == of_round], self.patterns)
        return PoolRequest(
            self.strategy,
            self.said,
            tags,
            self.priority,
            dict(map(_depth, self.depths)),
            self.round_number,
            per_team=self.per_team,
        )


def describes_pool(command: Callable[..., None]) -> Callable[..., None]:
    """Add these options to a command, which gets them as one argument `described`; a strategy is required."""
    return _describing(command, has_usual=False)


def describes_plan(command: Callable[..., None]) -> Callable[..., None]:
    """Add these options to a command with defaults, so that none is required."""
    return _describing(command, has_usual=True)


def _describing(command: Callable[..., None], *, has_usual: bool) -> Callable[..., None]:

    @wraps(command)
    def collecting(
        *args: object,
        strategy: str | None,
        patterns: Sequence[str],
        priority: int | None,
        per_team: int | None,
        depths: Sequence[str],
        round_number: int | None,
        **options: Any,  # noqa: ANN401 - the command's own
    ) -> None:
        said = {name: options.pop(name) for name in TOLD}
        given = {name: value for name, value in said.items() if value is not None}
        if strategy is None and "depth" not in given and (given or not has_usual):
            raise click.UsageError("Give --depth K, or a --strategy and what it takes.")
        name = strategy or USUAL_STRATEGY
        told = with_usual(name, given) if has_usual else given
        command(*args, described=Described(name, told, patterns, priority, per_team, depths, round_number), **options)

    described = collecting
    for option in reversed((STRATEGY, *TOLD.values(), *RUNS)):
        described = option(described)
    return described


def _depth(written: str) -> tuple[str, int]:
    """The depth of one run, from `TAG=K`; the tag may contain an equals sign."""
    tag, _, depth = written.rpartition("=")
    if not tag or not (depth.isascii() and depth.isdecimal()):
        raise click.BadParameter(f"“{written}” is not TAG=K, such as bm25=20.", param_hint="--depth-of")
    return tag, int(depth)


def _fitting(tags: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """The tags that equal or match a pattern; a pattern without a match is an error."""
    for pattern in patterns:
        if not _fits_any(pattern, tags):
            raise NotFoundError("No run of this collection has a tag like “%(pattern)s”.", pattern=pattern)
    return [tag for tag in tags if any(_fits_any(pattern, [tag]) for pattern in patterns)]


def _fits_any(pattern: str, tags: Sequence[str]) -> bool:
    # A tag may itself contain pattern characters.
    return any(tag == pattern or fnmatchcase(tag, pattern) for tag in tags)
