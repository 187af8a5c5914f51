"""What systems cost as text: CSV and JSON, exact, for programs; a table for people."""

from collections.abc import Sequence

from annotator.evaluation.costs.facts import Fact
from annotator.evaluation.costs.report import CostColumn, CostedRun, CostReport, CostRow
from annotator.evaluation.costs.statements import Statement, write_value
from annotator.spreadsheets import csv_text

Cell = str | bool | int | float | None
FRONT = "*"  # what marks a run of the Pareto front for people


def costs_csv(report: CostReport) -> str:
    """Comma-separated, a line a run; every line names the grades its value is computed from."""
    board = report.board
    measure, named, against = [], [], []
    if board is not None:
        measure, named = [board.measures[0]], ["qrels", "policy", "grades", "topics", "fingerprint"]
        against = [board.source, board.policy, board.grades, len(board.topics), board.fingerprint]
    headings: list[Cell] = ["run", "team", *measure, "front", *map(heading, report.columns), *named]
    rows = [headings]
    for row in report.rows:
        value = [row.value] if measure else []
        rows.append([row.run.tag, row.run.team, *value, _front(report, row), *_cells(report, row.run), *against])
    return csv_text(rows)


def readable_rows(report: CostReport) -> tuple[list[str], list[Sequence[Cell]]]:
    """The headings, and a row a run; only what some run states has a column."""
    measure = [] if report.board is None else [report.board.measures[0]]
    headings = ["RUN", "TEAM", *measure, "FRONT", *(heading(column, in_capitals=True) for column in report.columns)]
    rows: list[Sequence[Cell]] = [
        [
            *(row.run.tag, row.run.team, *([row.value] if measure else [])),
            FRONT if row.is_on_front else "",
            *(_written(row.run.statements.get(column.address)) for column in report.columns),
        ]
        for row in report.rows
    ]
    return headings, rows


def as_json(report: CostReport) -> dict[str, object]:
    """Everything of it, as JSON has it."""
    board = report.board
    return {
        "measure": board.measures[0] if board is not None else None,
        "qrels": board.source if board is not None else None,
        "fingerprint": board.fingerprint if board is not None else None,
        "cost": report.axis.address,
        "unit": report.axis.fact.unit,
        "within": report.within,
        "over": report.over,
        "silent": report.silent,
        "rows": [
            {
                "run": row.run.tag,
                "team": row.run.team,
                "value": row.value,
                "front": _front(report, row),
                "costs": {address: said(one) for address, one in row.run.statements.items()},
            }
            for row in report.rows
        ],
    }


def facts_rows(facts: Sequence[Fact]) -> tuple[list[str], list[Sequence[Cell]]]:
    """What may be stated in a collection, for people."""
    headings = ["KEY", "KIND", "UNIT", "BETTER", "FOR EACH", "OWN", "NAME"]
    rows: list[Sequence[Cell]] = [
        [fact.key, fact.kind, fact.unit, fact.better, fact.per, fact.is_own, str(fact.name)] for fact in facts
    ]
    return headings, rows


def heading(column: CostColumn, *, in_capitals: bool = False) -> str:
    """The address of a column, with its unit, which is as it is in any case."""
    address = column.address.upper() if in_capitals else column.address
    return f"{address} ({column.fact.unit})" if column.fact.unit else address


def said(statement: Statement) -> float | str:
    """What is stated: its number, or its words."""
    return statement.words if statement.number is None else statement.number


def _front(report: CostReport, row: CostRow) -> bool | None:
    """Whether a run is on the front; None where there is none."""
    return row.is_on_front if report.has_front else None


def _cells(report: CostReport, run: CostedRun) -> list[Cell]:
    return [said(one) if (one := run.statements.get(column.address)) else None for column in report.columns]


def _written(statement: Statement | None) -> str | None:
    return None if statement is None else write_value(statement)
