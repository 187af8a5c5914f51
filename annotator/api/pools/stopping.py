"""When to stop judging topics: what the stopping rules answer, and the organiser's decisions."""

from marshmallow import Schema, fields, validate

from annotator.api.collections.audit import note
from annotator.api.pools.pool import resource
from annotator.api.site.access import ORGANISE, READ, caller
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.report_tables import ReportTable, report_table
from annotator.api.site.values import Text, counted, one_of
from annotator.evaluation.stopping.stopping_rules import RULES, USUAL_SETTINGS, Rho, StoppingSettings
from annotator.web.site.context import database, now
from annotator.web.site.memories import kept_report
from annotator.workflows.qrels.stopping import StoppingPart, StoppingRequest, stopping_report
from annotator.workflows.qrels.stopping_decisions import decide_topic

BETWEEN = validate.Range(0, 1, min_inclusive=False, max_inclusive=False)


class StoppingQuery(Schema):
    """Which rules and topics, and what the rules aim at."""

    topic = fields.List(
        Text, load_default=list, metadata={"description": "Only this topic; repeatable. By default all."}
    )
    rule = fields.List(
        one_of(RULES), load_default=list, metadata={"description": "Only this rule; repeatable. By default all."}
    )
    target = fields.Float(
        load_default=USUAL_SETTINGS.target,
        validate=BETWEEN,
        metadata={"description": "The recall that is to be reached."},
    )
    alpha = fields.Float(
        load_default=USUAL_SETTINGS.alpha,
        validate=BETWEEN,
        metadata={"description": "The risk of missing the target that rules with a guarantee may take."},
    )
    in_a_row = counted(
        load_default=USUAL_SETTINGS.in_a_row,
        metadata={"description": "The rule in-a-row stops after so many documents without a relevant one."},
    )
    budget = counted(
        load_default=None,
        metadata={"description": "The rule budget stops after so many documents; by default as Cormack and Grossman."},
    )
    rho = one_of(
        Rho,
        load_default=Rho.ADAPTIVE.value,
        metadata={"description": "The bound of the knee; “first” only reproduces tables of others."},
    )
    by = one_of(
        StoppingPart,
        load_default=StoppingPart.TOPICS.value,
        metadata={
            "description": "Which table: what each rule answers for each topic, the rules over all topics, the curve "
            "of found documents, or the decisions."
        },
    )


class StoppingBody(Schema):
    """A decision on a topic."""

    topic = Text(required=True, metadata={"description": "The number of the topic."})
    stops = fields.Boolean(
        required=True, metadata={"description": "True to stop judging the topic, false to take that back."}
    )
    reason = Text(required=True, metadata={"description": "Why; it is recorded."})
    rule = one_of(
        RULES,
        load_default=None,
        allow_none=True,
        metadata={"description": "The stopping rule that was followed; null for none."},
    )


class StoppingView(Schema):
    """A decision as it was recorded, with what was known of the topic."""

    topic = fields.String(required=True, metadata={"description": "The number of the topic."})
    stops = fields.Boolean(required=True, metadata={"description": "Whether judging of the topic stops."})
    rule = fields.String(
        required=True, allow_none=True, metadata={"description": "The stopping rule that was followed; null for none."}
    )
    judged = fields.Integer(required=True, metadata={"description": "The number of judged documents."})
    relevant = fields.Integer(required=True, metadata={"description": "The number of relevant documents found."})
    recall = fields.Float(
        required=True, allow_none=True, metadata={"description": "Estimated recall; null without a random sample."}
    )
    recall_low = fields.Float(
        required=True, allow_none=True, metadata={"description": "The lower end of its 95 % interval."}
    )
    recall_high = fields.Float(
        required=True, allow_none=True, metadata={"description": "The upper end of its 95 % interval."}
    )


@operation(resource, "GET", "/collections/<slug>/pool/stopping", READ, Gives(ReportTable), Takes(query=StoppingQuery))
def show_stopping(call: Call) -> object:
    """Show after how many documents each stopping rule would have stopped each topic, and estimated recall.

    Rules with a guarantee rest on a random sample that is judged first; the others are heuristics. Estimated recall has
    an interval where there is a random sample, and is null elsewhere.
    """
    asked = call.query
    settings = StoppingSettings(asked["target"], asked["alpha"], asked["in_a_row"], asked["budget"], Rho(asked["rho"]))
    wanted = StoppingRequest(settings, tuple(asked["rule"]), tuple(asked["topic"]))
    found = kept_report(
        call.slug, (stopping_report, wanted), lambda session: stopping_report(session, call.slug, wanted)
    )
    part = StoppingPart(asked["by"])
    about = {
        "judged": found.judged,
        "relevant": found.relevant,
        "recall": None if found.estimate is None else found.estimate.recall,
        "recall_low": None if found.estimate is None else found.estimate.low,
        "recall_high": None if found.estimate is None else found.estimate.high,
    }
    return report_table(part, found.table(part), about=about, notices=found.notices)


@operation(
    resource, "POST", "/collections/<slug>/pool/stopping", ORGANISE, Gives(StoppingView), Takes(body=StoppingBody)
)
def decide_stopping(call: Call) -> object:
    """Record the decision to stop judging a topic, or to take that back; earlier decisions stay.

    An adaptive strategy chooses no further documents of a stopped topic; those in its pool are still judged.
    """
    asked = call.body
    with database().transaction() as session:
        made = decide_topic(
            session,
            call.slug,
            asked["topic"],
            stops=asked["stops"],
            reason=asked["reason"],
            rule=asked["rule"] if asked["stops"] else None,
            by_id=caller().id,
            at=now(),
        )
        if made.stops:
            details = {
                "rule": made.rule,
                "reason": asked["reason"],
                "judged": made.judged,
                "relevant": made.relevant,
            }
            note(session, "pool.stop", call.slug, subject=made.topic, details=details)
        else:
            note(session, "pool.resume", call.slug, subject=made.topic, details={"reason": asked["reason"]})
    return made
