"""`annotator evaluate --estimate`: scores of run files estimated from a file of sampled judgements."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import click

from annotator.cli.site.files import FILE, STANDARD_INPUT
from annotator.cli.site.options import refuse_options_besides
from annotator.cli.site.tables import FORMATS, say_by_measure, show_by_measure, show_table
from annotator.evaluation.estimation.estimated_tables import TableEstimates
from annotator.workflows.leaderboard.estimated_files import estimate_files
from annotator.workflows.leaderboard.scoring import File

RUNS, PAIRS = "runs", "pairs"
OPTIONS = (
    click.option(
        "--estimate",
        is_flag=True,
        help="Estimate scores, with 95 % intervals, from QRELS as a sample: all documents that could be drawn, with -1 "
        "for those that were not.",
    ),
    click.option(
        "--machine-file",
        "machine",
        type=FILE,
        metavar="FILE",
        help="Estimate with a machine's grades of all these documents, as qrels.",
    ),
    click.option(
        "--by", type=click.Choice([RUNS, PAIRS]), help="One table of the report of estimates: runs or every two. [runs]"
    ),
)
# Options that estimates take as well.
ALSO_FOR_ESTIMATES = {"measures", "relevant_from", "format_", "estimate", "machine", "by"}


def or_estimates_of_files(read: Callable[[str], File]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add these options to a command, which is called without `--estimate` only; `read` opens a file by its path."""

    def adding(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def choosing(
            *,
            machine: str | None,
            by: str | None,
            estimate: bool,
            **options: Any,  # noqa: ANN401 - the command's own
        ) -> None:
            _check(options["format_"], machine, by, wanted=estimate)
            if not estimate:
                command(**options)
                return
            paths = [options["qrels"], *options["runs"], *([] if machine is None else [machine])]
            if paths.count(STANDARD_INPUT) > 1:
                raise click.UsageError("Standard input (-) can be given once.")
            of_machine = None if machine is None else read(machine)
            runs, wanted = [read(run) for run in options["runs"]], options["measures"]
            least = options["relevant_from"]
            found = estimate_files(read(options["qrels"]), runs, wanted, of_machine, relevant_from=least)
            _show_estimates(found, by or RUNS, options["format_"])

        described = choosing
        for option in reversed(OPTIONS):
            described = option(described)
        return described

    return adding


def _check(format_: str, machine: str | None, by: str | None, *, wanted: bool) -> None:
    """Raise `UsageError` for options that do not belong together."""
    if not wanted:
        if machine is not None or by is not None:
            raise click.UsageError("--machine-file and --by go with --estimate.")
        return
    refuse_options_besides("--estimate", ALSO_FOR_ESTIMATES)
    if format_ not in FORMATS:
        raise click.UsageError(f"Estimates are shown as {', '.join(FORMATS)}, not as {format_}.")


def _show_estimates(found: Mapping[str, TableEstimates], by: str, format_: str) -> None:
    show_by_measure(
        format_,
        found,
        as_json=_as_json,
        as_csv=lambda one: one.table(of_pairs=by == PAIRS),
        tables=lambda one: _show(one, by),
    )
    say_by_measure({measure: _explanations(one, by) for measure, one in found.items()})


def _show(found: TableEstimates, by: str) -> None:
    headings, rows = found.table(of_pairs=by == PAIRS)
    show_table([heading.upper().replace("_", " ") for heading in headings], rows)


def _as_json(found: TableEstimates) -> Mapping[str, object]:
    tables = {by: found.table(of_pairs=by == PAIRS) for by in (RUNS, PAIRS)}
    return {
        "topics": len(found.estimates.used),
        **{by: [dict(zip(headings, row, strict=True)) for row in rows] for by, (headings, rows) in tables.items()},
        "notices": list(found.notes),
    }


def _explanations(found: TableEstimates, by: str) -> list[str]:
    lines = [f"Estimated from a sample; topics: {len(found.estimates.used)}."]
    if by == RUNS:
        lines.append(
            "LOW, HIGH: 95 % interval for these topics; IN ALL: for topics like these, taken as a sample; BY DRAW: how "
            "much of the variance in the latter comes from the draw of documents; OUTSIDE: the share of documents that "
            "could not be drawn."
        )
        if found.estimates.people is not None:
            lines.append("PEOPLE: estimated without the machine; MACHINE: by its labels alone, as biased as they are.")
    return [*lines, *found.notes]
