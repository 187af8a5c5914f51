"""API operation that reports inter-judge agreement."""

from marshmallow import Schema, fields

from annotator.api.site.access import OBSERVE
from annotator.api.site.door import Call, Gives, Takes, as_json, operation, resource_of
from annotator.api.site.values import Text, one_of
from annotator.errors import NotAllowedError
from annotator.evaluation.agreement.kappa import Weighting
from annotator.web.site.context import database, the_place
from annotator.web.site.memories import grades_memory
from annotator.workflows.agreement import agreement
from annotator.workflows.agreement.agreement import By, Choice

resource = resource_of("agreement", "Agreement of the judges.")


NAMES_JUDGES = (By.PAIR, By.JUDGE)


class AgreementQuery(Schema):
    """Which part of the report, how differing grades weigh in kappa, and which topics count."""

    by = one_of(By, load_default=By.ALL.value)
    weights = one_of(Weighting, load_default=Weighting.NONE.value)
    topics = Text(load_default="", metadata={"description": "Comma-separated numbers; empty for all."})


class AgreementTable(Schema):
    """One part of the report, a row an object; what is undefined is null."""

    by = fields.String(required=True)
    rows = fields.List(fields.Dict, required=True)
    grades_without_time = fields.Integer(
        required=True,
        metadata={"description": "Grades of imported files, which agreement over time leaves out.", "example": 0},
    )


@operation(
    resource, "GET", "/collections/<slug>/agreement", OBSERVE, Gives(AgreementTable), Takes(query=AgreementQuery)
)
def show_agreement(call: Call) -> object:
    """Show the agreement of the judges: of all, or by topic, grade or time; for organisers also by pair and judge."""
    by = By(call.query["by"])
    if by in NAMES_JUDGES and not the_place().organises:
        raise NotAllowedError("Only organisers see the names of judges.")
    topics = (topic.strip() for topic in call.query["topics"].split(","))
    choice = Choice(Weighting(call.query["weights"]), tuple(filter(None, topics)))
    report = database().read(agreement.agreement_report, call.slug, choice, memory=grades_memory())
    headings, rows = report.table(by)
    named = [dict(zip(headings, row, strict=True)) for row in rows]
    return as_json({"by": by, "rows": named, "grades_without_time": report.over_time.left_out})
