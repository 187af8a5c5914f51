"""Clicks beside judgements as JSON, and the tables that terminals and files have of it."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from annotator.clicks.evaluation.judgements.together_report import HEADINGS, Standing, TogetherReport, TogetherTable
from annotator.evaluation.leaderboard.graded_runs import Cell, QrelsState

# A report as `as_json` gives it.
Report = Mapping[str, Any]


def as_json(report: TogetherReport) -> dict[str, Any]:
    """Everything of it, as JSON has it; each table is a list with an object a row."""
    return {
        "measure": report.measure,
        "qrels": asdict(report.state),
        "notices": list(map(str, report.notices)),
        "log": report.asked,
        **{part.value: _objects(report, part) for part in TogetherTable},
    }


def table(report: Report, part: TogetherTable) -> tuple[tuple[str, ...], list[list[Cell]]]:
    """Headings and rows of a part, in full precision."""
    headings = HEADINGS[part]
    return headings, [[row[heading] for heading in headings] for row in report[part.value]]


def file(report: Report, part: TogetherTable) -> tuple[list[str], list[list[Cell]]]:
    """The same with the measure and the state of the qrels in every row."""
    return QrelsState(**report["qrels"]).beside(*table(report, part), report["measure"])


def not_pooled(report: Report) -> list[tuple[str, str]]:
    """Topic and docno of the documents of its queries that are not in the pool."""
    rows = report[TogetherTable.DOCUMENTS.value]
    return [(row["topic"], row["docno"]) for row in rows if row["standing"] == Standing.NOT_POOLED]


def _objects(report: TogetherReport, part: TogetherTable) -> list[dict[str, Cell]]:
    headings, rows = report.table(part)
    return [dict(zip(headings, row, strict=True)) for row in rows]
