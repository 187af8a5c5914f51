"""Costs as text: CSV and JSON with exact values for programs; a table for people."""

from collections.abc import Sequence
from typing import TypedDict

from annotator.evaluation.costs.facts import Fact
from annotator.evaluation.costs.report import CostReport, CostRow
from annotator.evaluation.costs.statements import Statement, write_number
from annotator.spreadsheets import csv_text

Cell = str | bool | int | float | None
FRONT = "*"  # marks a run on the Pareto front in the table
FACT_HEADINGS = ["KEY", "KIND", "UNIT", "BETTER", "FOR EACH", "OWN", "NAME"]


class ColumnEntry(TypedDict):
    """A cost that some run states, by its address, and its unit."""

    cost: str
    unit: str


class RunEntry(TypedDict):
    """A run with its score, whether it is on the front (None: there is no front), and its costs by address."""

    run: str
    team: str | None
    value: float | None
    front: bool | None
    costs: dict[str, float | str]


class ReportEntry(TypedDict):
    """The report as JSON; the fields on the qrels are None if no run is scored."""

    measure: str | None
    qrels: str | None
    policy: str | None
    grades: int | None
    topics: int | None
    fingerprint: str | None
    cost: str
    unit: str
    within: float | None
    over: int
    silent: int
    has_front: bool
    columns: list[ColumnEntry]
    rows: list[RunEntry]


def as_json(report: CostReport) -> ReportEntry:
    """The whole report as JSON."""
    board = report.board
    return {
        "measure": board.measures[0] if board is not None else None,
        "qrels": board.source if board is not None else None,
        "policy": board.policy if board is not None else None,
        "grades": board.grades if board is not None else None,
        "topics": len(board.topics) if board is not None else None,
        "fingerprint": board.fingerprint if board is not None else None,
        "cost": report.axis.address,
        "unit": report.axis.fact.unit,
        "within": report.within,
        "over": report.over,
        "silent": report.silent,
        "has_front": report.has_front,
        "columns": [{"cost": column.address, "unit": column.fact.unit} for column in report.columns],
        "rows": [
            {
                "run": row.run.tag,
                "team": row.run.team,
                "value": row.value,
                "front": _front(report, row),
                "costs": {address: stated_value(one) for address, one in row.run.statements.items()},
            }
            for row in report.rows
        ],
    }


def costs_csv(report: CostReport) -> str:
    """CSV with one line per run; every line names the grades its value is computed from."""
    headings, rows = exact_rows(as_json(report))
    return csv_text([headings, *rows])


def exact_rows(report: ReportEntry, *, names_measure: bool = True) -> tuple[list[str], list[Sequence[Cell]]]:
    """Headings and rows of the CSV; the column of the values is named after the measure, or `value`."""
    measure: list[str] = []
    named: list[str] = []
    against: list[Cell] = []
    if report["measure"] is not None:
        measure = [report["measure"] if names_measure else "value"]
        named = ["qrels", "policy", "grades", "topics", "fingerprint"]
        against = [report["qrels"], report["policy"], report["grades"], report["topics"], report["fingerprint"]]
    columns = report["columns"]
    headings = ["run", "team", *measure, "front", *map(heading, columns), *named]
    rows: list[Sequence[Cell]] = []
    for row in report["rows"]:
        value = [row["value"]] if measure else []
        costs = [row["costs"].get(column["cost"]) for column in columns]
        rows.append([row["run"], row["team"], *value, row["front"], *costs, *against])
    return headings, rows


def readable_rows(report: ReportEntry) -> tuple[list[str], list[Sequence[Cell]]]:
    """Headings and one row per run; only costs that some run states have a column."""
    columns = report["columns"]
    measure = [] if report["measure"] is None else [report["measure"]]
    headings = ["RUN", "TEAM", *measure, "FRONT", *(heading(column, in_capitals=True) for column in columns)]
    rows: list[Sequence[Cell]] = [
        [
            *(row["run"], row["team"], *([row["value"]] if measure else [])),
            FRONT if row["front"] else "",
            *(_written(row["costs"].get(column["cost"])) for column in columns),
        ]
        for row in report["rows"]
    ]
    return headings, rows


def facts_rows(facts: Sequence[Fact]) -> tuple[list[str], list[Sequence[Cell]]]:
    """The costs that may be stated in a collection, for people."""
    rows: list[Sequence[Cell]] = [
        [fact.key, fact.kind, fact.unit, fact.better, fact.per, fact.is_own, str(fact.name)] for fact in facts
    ]
    return FACT_HEADINGS, rows


def heading(column: ColumnEntry, *, in_capitals: bool = False) -> str:
    """The address of a column with its unit, whose case is never changed."""
    address = column["cost"].upper() if in_capitals else column["cost"]
    return f"{address} ({column['unit']})" if column["unit"] else address


def stated_value(statement: Statement) -> float | str:
    """The stated number, or the stated text."""
    return statement.words if statement.number is None else statement.number


def _front(report: CostReport, row: CostRow) -> bool | None:
    """Whether a run is on the Pareto front; None if there is none."""
    return row.is_on_front if report.has_front else None


def _written(cost: float | str | None) -> str | None:
    """A cost formatted for people, without its unit."""
    return cost if cost is None or isinstance(cost, str) else write_number(cost)
