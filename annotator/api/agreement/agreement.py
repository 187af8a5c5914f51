"""Inter-judge agreement: of all judges, and of two of them with their documents."""

from marshmallow import Schema, fields

from annotator.api.site.access import OBSERVE, READ
from annotator.api.site.door import Call, Gives, Takes, as_json, operation, resource_of
from annotator.api.site.report_tables import ReportTable, report_table
from annotator.api.site.values import Text, counted, one_of
from annotator.errors import NotAllowedError
from annotator.evaluation.agreement.kappa import Weighting
from annotator.web.site.context import database, the_place
from annotator.workflows.agreement import agreement
from annotator.workflows.agreement.agreement import By, Choice, PairPart

resource = resource_of("agreement", "Agreement of the judges.")


NAMES_JUDGES = (By.PAIR, By.JUDGE)
MOST_DOCUMENTS = 1_000
WEIGHTS = {"description": "How differing grades weigh in kappa."}


class AgreementQuery(Schema):
    """Which part of the report, how differing grades weigh in kappa, and which topics count."""

    by = one_of(By, load_default=By.ALL.value)
    weights = one_of(Weighting, load_default=Weighting.NONE.value)
    topic = fields.List(Text, load_default=list, metadata={"description": "Only this topic; repeatable."})


class PairQuery(Schema):
    """The two judges, how differing grades weigh, which topics count, and which table."""

    first = Text(required=True, metadata={"description": "The name of a judge."})
    second = Text(required=True, metadata={"description": "The name of another judge."})
    weights = one_of(Weighting, load_default=Weighting.NONE.value, metadata=WEIGHTS)
    topic = fields.List(Text, load_default=list, metadata={"description": "Only this topic; repeatable."})
    by = one_of(
        PairPart,
        load_default=PairPart.PAIR.value,
        metadata={
            "description": (
                "Which table: kappa and other coefficients, documents by both grades, or kappa over time. First is "
                "the judge whose name comes first."
            )
        },
    )


class TwiceGraded(Schema):
    """A document that two judges graded."""

    topic = fields.String(required=True, metadata={"description": "The number of the topic."})
    docno = fields.String(required=True)
    title = fields.String(required=True, metadata={"description": "The title of the document."})
    first = fields.Integer(required=True, metadata={"description": "The grade of the first judge."})
    second = fields.Integer(required=True, metadata={"description": "The grade of the second judge."})


class TwiceGradedPage(Schema):
    """Documents that two judges graded."""

    documents = fields.List(
        fields.Nested(TwiceGraded), required=True, metadata={"description": "The documents, by topic and docno."}
    )
    count = fields.Integer(required=True, metadata={"description": "The number of documents in all."})


class TwiceQuery(Schema):
    """The two judges, and which documents."""

    first = Text(required=True, metadata={"description": "The name of a judge."})
    second = Text(required=True, metadata={"description": "The name of another judge."})
    one = counted(0, load_default=None, metadata={"description": "Only documents to which the first gave this grade."})
    other = counted(
        0, load_default=None, metadata={"description": "Only documents to which the second gave this grade."}
    )
    topic = fields.List(Text, load_default=list, metadata={"description": "Only this topic; repeatable."})
    skip = counted(0, load_default=0, metadata={"description": "How many documents to skip."})


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
    choice = Choice(Weighting(call.query["weights"]), tuple(call.query["topic"]))
    report = database().read(agreement.agreement_report, call.slug, choice)
    headings, rows = report.table(by)
    named = [dict(zip(headings, row, strict=True)) for row in rows]
    return as_json({"by": by, "rows": named, "grades_without_time": report.over_time.left_out})


@operation(resource, "GET", "/collections/<slug>/agreement/pair", READ, Gives(ReportTable), Takes(query=PairQuery))
def show_pair(call: Call) -> object:
    """Compare two judges on the documents that both graded: kappa, grade by grade, and as judging went on."""
    asked = call.query
    choice, part = Choice(Weighting(asked["weights"]), tuple(asked["topic"])), PairPart(asked["by"])
    found = database().read(agreement.pair_report, call.slug, asked["first"], asked["second"], choice=choice)
    about = {"first": found.pair.first, "second": found.pair.second, "weights": choice.weighting}
    return report_table(part, found.table(part), about=about)


@operation(
    resource, "GET", "/collections/<slug>/agreement/documents", READ, Gives(TwiceGradedPage), Takes(query=TwiceQuery)
)
def list_twice_graded(call: Call) -> object:
    """List the documents that two judges graded, 1,000 at a time; of two grades, what they disagree on."""
    asked = call.query
    return database().read(
        agreement.documents_of_two,
        call.slug,
        (asked["first"], asked["second"]),
        (asked["one"], asked["other"]),
        topics=tuple(asked["topic"]),
        skip=asked["skip"],
        most=MOST_DOCUMENTS,
    )
