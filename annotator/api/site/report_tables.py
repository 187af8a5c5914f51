"""Reports as the API answers them: one table of the report, what it was computed from, and its limitations."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

from marshmallow import Schema, fields

from annotator.evaluation.leaderboard.graded_runs import QrelsState
from annotator.web.collections.observer_policy import policy_shown


class ReportTable(Schema):
    """One table of a report, a row an object; what is undefined is null."""

    by = fields.String(required=True, metadata={"description": "The table that was requested."})
    about = fields.Dict(
        required=True, metadata={"description": "What the report was computed from, such as the measure and the qrels."}
    )
    notices = fields.List(
        fields.String, required=True, metadata={"description": "Limitations of the report, a sentence each."}
    )
    rows = fields.List(
        fields.Dict, required=True, metadata={"description": "The rows; `by` decides which properties they have."}
    )


def report_table(
    by: str,
    table: tuple[Sequence[str], Iterable[Sequence[object]]],
    *,
    about: Mapping[str, object] | None = None,
    notices: Iterable[object] = (),
) -> dict[str, object]:
    """A report as `ReportTable` describes it."""
    headings, rows = table
    named = [{name: _known(cell) for name, cell in zip(headings, row, strict=True)} for row in rows]
    facts = {name: _known(fact) for name, fact in (about or {}).items()}
    return {"by": by, "about": facts, "notices": list(map(str, notices)), "rows": named}


def state_shown(state: QrelsState) -> dict[str, object]:
    """The grades of a report; only organisers see the name of a judge in the policy."""
    return {**asdict(state), "policy": policy_shown(state.policy)}


def _known(cell: object) -> object:
    """The value of a cell; JSON has no number that is undefined."""
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell
