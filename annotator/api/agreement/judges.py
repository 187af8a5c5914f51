"""Reports on judges: quality of their work, hours, machines beside people, disagreements and adjudication."""

from dataclasses import asdict, replace

from marshmallow import Schema, fields

from annotator.api.agreement.agreement import resource
from annotator.api.site.access import READ
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.report_tables import ReportTable, report_table
from annotator.api.site.values import Moment, Text, counted, one_of
from annotator.web.site.context import database, now
from annotator.web.site.memories import kept_report
from annotator.workflows.agreement import disagreements
from annotator.workflows.agreement.adjudication import show_adjudication
from annotator.workflows.agreement.disagreements import DisagreementFilter
from annotator.workflows.agreement.judge_hours import HEADINGS, HoursWanted, Period, hours_cells, judge_hours
from annotator.workflows.agreement.judge_quality import (
    USUAL_PERCENT,
    USUAL_STREAK,
    Fast,
    quality_table,
    report_quality,
    streaks_table,
    stretches_table,
)

TOPIC, JUDGE = "topic", "judge"
# The tables of the judges' quality.
JUDGES_TABLES = {JUDGE: quality_table, "streaks": streaks_table, "stretches": stretches_table}


class QualityQuery(Schema):
    """What a very fast streak is."""

    streak = counted(
        load_default=USUAL_STREAK, metadata={"description": "A very fast streak has this many documents or more."}
    )
    percent = counted(
        load_default=USUAL_PERCENT,
        metadata={"description": "Each of them is judged in less than this percentage of the median time."},
    )
    judge = Text(load_default=None, metadata={"description": "Only this judge."})
    by = one_of(
        JUDGES_TABLES,
        load_default=JUDGE,
        metadata={
            "description": (
                "Which table: a row for each judge, each very fast streak, or each stretch of a judge's documents in "
                "order of judgement."
            )
        },
    )


class HoursQuery(Schema):
    """The days that count, and the unit by which hours are added up."""

    first = fields.Date(load_default=None, data_key="from", metadata={"description": "The first day, in UTC."})
    last = fields.Date(load_default=None, data_key="to", metadata={"description": "The last day, in UTC."})
    period = one_of(
        Period, load_default=Period.MONTH.value, metadata={"description": "The hours are added up by this."}
    )


class DisagreementsQuery(Schema):
    """Which documents."""

    topic = fields.List(Text, load_default=list, metadata={"description": "Only this topic; repeatable."})
    judge = fields.List(
        Text,
        load_default=list,
        metadata={"description": "Only where this judge differs; given twice: only where these two do."},
    )
    apart = counted(load_default=1, metadata={"description": "Only a difference of this many grades or more."})
    across = fields.Boolean(
        load_default=False,
        metadata={"description": "Only documents that are relevant for one judge and not for another."},
    )
    undecided = fields.Boolean(
        load_default=False, metadata={"description": "Only documents without a decision of an adjudicator."}
    )


class JudgementShown(Schema):
    """One person's judgement of a document in dispute."""

    judge = fields.String(required=True, metadata={"description": "The name of the judge."})
    grade = fields.Integer(
        attribute="decision.grade",
        required=True,
        allow_none=True,
        metadata={"description": "The grade; null if they could not judge."},
    )
    cannot_judge = fields.String(
        attribute="decision.cannot_judge",
        required=True,
        allow_none=True,
        metadata={"description": "Why they could not judge; null otherwise."},
    )
    note = fields.String(attribute="decision.note", required=True, metadata={"description": "The judge's note."})
    judged_at = Moment(required=True, metadata={"description": "When they judged, in UTC."})
    evidence = fields.List(
        fields.String, required=True, metadata={"description": "Passages of the document that support the grade."}
    )
    adjudicates = fields.Boolean(required=True, metadata={"description": "Whether it is an adjudicator's decision."})
    is_carried = fields.Boolean(
        required=True, metadata={"description": "Whether it was given to another document with the same text."}
    )


class DisagreementView(Schema):
    """A document on which judges differ."""

    topic = fields.String(required=True, metadata={"description": "The number of the topic."})
    docno = fields.String(required=True)
    title = fields.String(required=True)
    has_text = fields.Boolean(required=True, metadata={"description": "Whether the text of the document is known."})
    known_grade = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "The correct grade of a gold question; null otherwise."},
    )
    distance = fields.Integer(
        required=True, metadata={"description": "The difference of the highest and the lowest grade."}
    )
    is_across = fields.Boolean(
        required=True, metadata={"description": "Whether it is relevant for one judge and not for another."}
    )
    is_decided = fields.Boolean(required=True, metadata={"description": "Whether an adjudicator decided."})
    words = fields.List(
        fields.Nested(JudgementShown),
        required=True,
        metadata={"description": "Everybody's judgements of the document."},
    )


class AdjudicationQuery(Schema):
    """Which table of adjudication."""

    by = one_of((TOPIC, JUDGE), load_default=TOPIC, metadata={"description": "A row for each topic, or each judge."})


@operation(resource, "GET", "/collections/<slug>/judges", READ, Gives(ReportTable), Takes(query=QualityQuery))
def show_judges(call: Call) -> object:
    """Show the quality of each judge's work: pace, agreement, leniency, drift, gold questions, repeated documents."""
    fast = Fast(call.query["streak"], call.query["percent"])
    found = kept_report(call.slug, (report_quality, fast), lambda session: report_quality(session, call.slug, fast))
    if (judge := call.query["judge"]) is not None:
        found = replace(found, judges=(found.of(judge),))
    by = call.query["by"]
    return report_table(by, JUDGES_TABLES[by](found), about=vars(fast))


@operation(resource, "GET", "/collections/<slug>/judges/hours", READ, Gives(ReportTable), Takes(query=HoursQuery))
def show_hours(call: Call) -> object:
    """Show the hours and judgements of each judge by day, week, month or in all, for payroll."""
    wanted = HoursWanted(call.query["first"], call.query["last"], Period(call.query["period"]))
    rows = database().read(judge_hours, call.slug, wanted)
    return report_table(wanted.by, (HEADINGS, map(hours_cells, rows)))


@operation(
    resource,
    "GET",
    "/collections/<slug>/disagreements",
    READ,
    Gives(DisagreementView, many=True),
    Takes(query=DisagreementsQuery, pages=True),
)
def list_disagreements(call: Call) -> object:
    """List the documents on which judges differ, worst first."""
    asked = call.query
    wanted = DisagreementFilter(
        tuple(asked["topic"]), tuple(asked["judge"]), asked["apart"], asked["across"], asked["undecided"]
    )
    return database().read(disagreements.list_disagreements, call.slug, wanted)


@operation(
    resource, "GET", "/collections/<slug>/adjudication", READ, Gives(ReportTable), Takes(query=AdjudicationQuery)
)
def show_adjudications(call: Call) -> object:
    """Show the progress of adjudication by topic, or how often each judge's grade was upheld."""
    by = call.query["by"]
    report = database().read(show_adjudication, call.slug, now=now())
    rows = [asdict(one) for one in (report.topics if by == TOPIC else report.judges)]
    about = {"policy": report.policy, "is_heard": report.is_heard, "leaves_out_disputed": report.leaves_out_disputed}
    return report_table(by, (list(rows[0]) if rows else [], [list(row.values()) for row in rows]), about=about)
