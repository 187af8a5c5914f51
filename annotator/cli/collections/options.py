"""Options for distributing judging work, aggregating several grades of a document, and rules for submissions."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from annotator.cli.site.files import FILE, read_text
from annotator.storage import JudgingMode
from annotator.storage.tables.collections import USUAL_MOST_TAG_CHARACTERS
from annotator.workflows.collections.collection import CollectionChange
from annotator.workflows.collections.queue_settings import QueueChange, read_mode
from annotator.workflows.runs.submissions import SubmissionChange, read_deadline

consensus_help = (
    "How several grades become one: owner, owner-else-majority (the majority's grade if the owner gave none), "
    "majority, majority-first (ties: the first judge's grade), median, lowest, highest, any-relevant or "
    "all-relevant; each also as adjudicated-else-…, where an adjudicator's grade decides; or judge:NAME, the grades "
    "of one judge only."
)

CONSENSUS_OPTIONS = (
    click.option("--consensus", metavar="POLICY", help=consensus_help),
    click.option(
        "--leave-out-disputed/--settle-disputed",
        "disputed",
        default=None,
        help=(
            "Whether documents in dispute are left out of the qrels until an adjudicator decides, or settled by the "
            "consensus policy."
        ),
    ),
    click.option(
        "--count-machines/--leave-out-machines",
        "machines",
        default=None,
        help="Whether the qrels include the grades of machines beside those of people.",
    ),
    click.option(
        "--show-grades/--hide-grades",
        "grades",
        default=None,
        help="Whether an adjudicator sees the differing grades; the judges' names are never shown.",
    ),
)


QUEUE_OPTIONS = (
    click.option(
        "--mode",
        metavar="MODE",
        help=f"{JudgingMode.SHARED}: any judge draws from any topic; {JudgingMode.OWNED}: each topic has an owner "
        "who judges all its documents (`annotator assignments`). [shared]",
    ),
    click.option(
        "--overlap",
        type=int,
        metavar="PERCENT",
        help=(
            "The share of each topic that one more judge also judges, to measure agreement; one more judgement "
            "each. Where the two differ, the consensus policy decides: by default the first judge's grade counts, "
            "or the owner's in an owned collection. [0]"
        ),
    ),
    click.option(
        "--reshow",
        type=int,
        metavar="PERCENT",
        help=(
            "The share of their own documents that judges see again after a day, for self-agreement; one more "
            "judgement each, which changes no grade. [0]"
        ),
    ),
    click.option(
        "--common",
        type=int,
        metavar="N",
        help=(
            "How many documents of each topic are judged by every judge of it; adds N documents per judge and "
            "topic. [0]"
        ),
    ),
)


until_help = "The submission deadline of runs: “2026-05-01 23:59”, UTC unless a zone follows; “none” removes it."
SUBMISSION_OPTIONS = (
    click.option("--submissions-until", "until", metavar="WHEN", help=until_help),
    click.option(
        "--terms",
        type=FILE,
        metavar="FILE",
        help="The terms participants accept before they take part, in Markdown; empty: none.",
    ),
    click.option(
        "--most-documents",
        type=int,
        metavar="N",
        help="The maximum of documents per topic; a run with more gets a warning.",
    ),
    click.option(
        "--tag-start",
        metavar="TEXT",
        help=(
            "How tags of participants' runs begin; {team} is the team's name, with underscores for blanks: '{team}-'. "
            "Empty: any beginning."
        ),
    ),
    click.option(
        "--longest-tag",
        type=int,
        metavar="N",
        help=f"The most characters of a tag of a participant's run. [{USUAL_MOST_TAG_CHARACTERS}]",
    ),
    click.option(
        "--plain-tags/--any-tags",
        default=None,
        help=(
            "Whether tags of participants' runs have only letters from A to Z, a to z, digits, full stops, underscores "
            "and hyphens. [--any-tags]"
        ),
    ),
    click.option(
        "--most-runs",
        type=int,
        metavar="N",
        help="The most active runs of a team, in each round; organisers may import more. 0: no limit. [0]",
    ),
    click.option(
        "--corpus",
        type=FILE,
        metavar="FILE",
        help="A text for participants: where the documents are and how to get them; empty: not stated.",
    ),
    click.option(
        "--share-docnos/--withhold-docnos",
        "shares_docnos",
        default=None,
        help="Whether participants may download the list of valid docnos. [--withhold-docnos]",
    ),
    click.option(
        "--share-qrels/--withhold-qrels",
        "shares_qrels",
        default=None,
        help=(
            "Whether participants may download the qrels version of released scores, for as long as these are released "
            "and no more runs are accepted. [--withhold-qrels]"
        ),
    ),
)


def describes_queue(command: Callable[..., None]) -> Callable[..., None]:
    """Add these options to a command, which gets their values as `queue`."""

    @wraps(command)
    def with_queue(
        *args: Any,  # noqa: ANN401 - the command's own
        mode: str | None,
        overlap: int | None,
        reshow: int | None,
        common: int | None,
        **options: Any,  # noqa: ANN401 - passed on unchanged
    ) -> None:
        queue = QueueChange(None if mode is None else read_mode(mode), overlap, reshow, common)
        command(*args, queue=queue, **options)

    described: Callable[..., None] = with_queue
    for option in reversed(QUEUE_OPTIONS):
        described = option(described)
    return described


def describes_consensus(command: Callable[..., None]) -> Callable[..., None]:
    """Add these options to a command, which gets their values as `consensus`."""

    @wraps(command)
    def with_consensus(
        *args: Any,  # noqa: ANN401 - the command's own
        consensus: str | None,
        disputed: bool | None,
        machines: bool | None,
        grades: bool | None,
        **options: Any,  # noqa: ANN401 - passed on unchanged
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


def describes_submissions(command: Callable[..., None]) -> Callable[..., None]:
    """Add these options to a command, which gets their values as `rules`."""

    @wraps(command)
    def with_rules(
        *args: Any,  # noqa: ANN401 - the command's own
        until: str | None,
        terms: str | None,
        most_documents: int | None,
        tag_start: str | None,
        longest_tag: int | None,
        plain_tags: bool | None,
        most_runs: int | None,
        corpus: str | None,
        shares_docnos: bool | None,
        shares_qrels: bool | None,
        **options: Any,  # noqa: ANN401 - passed on unchanged
    ) -> None:
        rules = SubmissionChange(
            deadline=None if until is None else read_deadline(until),
            terms=None if terms is None else read_text(terms),
            most_documents=most_documents,
            tag_start=tag_start,
            most_tag_characters=longest_tag,
            plain_tags=plain_tags,
            most_runs=most_runs,
            corpus=None if corpus is None else read_text(corpus),
            shares_docnos=shares_docnos,
            shares_qrels=shares_qrels,
        )
        command(*args, rules=rules, **options)

    described: Callable[..., None] = with_rules
    for option in reversed(SUBMISSION_OPTIONS):
        described = option(described)
    return described
