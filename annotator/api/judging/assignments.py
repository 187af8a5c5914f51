"""Topics assigned to judges: show the owners, change them, balance the remaining work; for organisers."""

from collections.abc import Mapping

from marshmallow import Schema, fields, validate

from annotator.api.collections.audit import note
from annotator.api.judging.judging import resource
from annotator.api.site.access import ORGANISE, READ
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.values import Text
from annotator.errors import InvalidValueError
from annotator.storage.collections.audit import Transaction
from annotator.web.site.context import database
from annotator.workflows.judging import topic_owners


class OwnerBody(Schema):
    """A topic and its new owner."""

    topic = Text(required=True, metadata={"description": "The number of the topic."})
    judge = Text(
        required=True,
        allow_none=True,
        metadata={"description": "The judge who gets it; null removes the owner."},
    )


class OwnersBody(Schema):
    """The topics whose owners change; others keep theirs."""

    assignments = fields.List(
        fields.Nested(OwnerBody),
        required=True,
        validate=validate.Length(min=1),
        metadata={"description": "The topics whose owners change; other topics keep theirs."},
    )
    dry_run = fields.Boolean(load_default=False, metadata={"description": "Only check and count; nothing is stored."})


class BalanceBody(Schema):
    """Among whom the topics are distributed."""

    judges = fields.List(
        Text, load_default=list, metadata={"description": "The judges who get topics; empty for all judges."}
    )
    reassign = fields.Boolean(
        load_default=False,
        metadata={"description": "Distribute every topic with remaining documents, also those that have an owner."},
    )
    dry_run = fields.Boolean(load_default=False, metadata={"description": "Only plan; nothing is stored."})


class AssignedTopicView(Schema):
    """A topic with its owner and its work."""

    number = fields.String(required=True, metadata={"description": "The number of the topic."})
    title = fields.String(required=True)
    items = fields.Integer(required=True)
    judged = fields.Integer(required=True)
    remaining = fields.Integer(
        required=True, metadata={"description": "The documents that its owner, or a new one, holds and could draw."}
    )
    owner = fields.String(required=True, allow_none=True, metadata={"description": "The owner; null: none."})


class JudgeWorkView(Schema):
    """A judge with the topics they own."""

    name = fields.String(required=True, metadata={"description": "The name of the judge."})
    topics = fields.Integer(required=True, metadata={"description": "The number of topics that the judge owns."})
    remaining = fields.Integer(required=True, metadata={"description": "The remaining documents of these topics."})


class AssignmentsView(Schema):
    """The owners of all accepted topics."""

    mode = fields.String(
        required=True, metadata={"description": "shared or owned: only in owned collections do owners count."}
    )
    topics = fields.List(
        fields.Nested(AssignedTopicView), required=True, metadata={"description": "The accepted topics, in order."}
    )
    judges = fields.List(
        fields.Nested(JudgeWorkView), required=True, metadata={"description": "The judges, with their topics."}
    )
    gone = fields.List(
        fields.String,
        required=True,
        metadata={"description": "Owners who judge no more: nobody is given the documents of their topics."},
    )


class ReassignedView(Schema):
    """How many topics changed owner."""

    topics = fields.Integer(required=True, metadata={"description": "The number of topics that changed owner."})
    given_back = fields.Integer(
        required=True, metadata={"description": "The number of documents that were returned to the queue by that."}
    )


class MoveView(Schema):
    """A topic that changes owner."""

    topic = fields.String(required=True, metadata={"description": "The number of the topic."})
    before = fields.String(required=True, allow_none=True, metadata={"description": "The owner before; null: none."})
    judge = fields.String(required=True, allow_none=True, metadata={"description": "The new owner."})


class JudgeBalance(Schema):
    """The remaining documents of a judge, before and after."""

    judge = fields.String(required=True, metadata={"description": "The name of the judge."})
    before = fields.Integer(required=True, metadata={"description": "The remaining documents before."})
    after = fields.Integer(required=True, metadata={"description": "The remaining documents afterwards."})


class BalancedView(ReassignedView):
    """What a distribution came to."""

    moves = fields.List(
        fields.Nested(MoveView), required=True, metadata={"description": "The topics that changed owner."}
    )
    judges = fields.List(
        fields.Nested(JudgeBalance), required=True, metadata={"description": "The remaining documents of each judge."}
    )


@operation(resource, "GET", "/collections/<slug>/assignments", READ, Gives(AssignmentsView))
def show_assignments(call: Call) -> object:
    """Show the owners of the topics, and the judges with their remaining documents."""
    return database().read(topic_owners.show_assigning, call.slug)


@operation(
    resource, "PATCH", "/collections/<slug>/assignments", ORGANISE, Gives(ReassignedView), Takes(body=OwnersBody)
)
def change_assignments(call: Call) -> object:
    """Assign topics to judges, or remove the owners of topics; judgements are kept.

    Documents held by judges who may no longer judge the topic return to the queue.
    """
    owners = _owners(call)
    with database().transaction(keep=not call.body["dry_run"]) as session:
        done = topic_owners.assign_topics(session, call.slug, owners)
        _note(session, call.slug, owners)
    return done


@operation(
    resource,
    "POST",
    "/collections/<slug>/assignments/balance",
    ORGANISE,
    Gives(BalancedView),
    Takes(body=BalanceBody),
)
def balance_assignments(call: Call) -> object:
    """Assign the topics without an owner, so that all judges have about the same number of documents left."""
    with database().transaction(keep=not call.body["dry_run"]) as session:
        plan, done = topic_owners.balance_topics(
            session, call.slug, call.body["judges"], reassign=call.body["reassign"]
        )
        _note(session, call.slug, plan.owners)
    return {
        **vars(done),
        "moves": [{"topic": one.topic.number, "before": one.topic.owner, "judge": one.owner} for one in plan.moves],
        "judges": [
            {"judge": before.name, "before": before.remaining, "after": after.remaining}
            for before, after in plan.judges
        ],
    }


def _owners(call: Call) -> dict[str, str | None]:
    """Topic number → new owner; raises `InvalidValueError` for a topic that is given twice."""
    owners: dict[str, str | None] = {}
    for one in call.body["assignments"]:
        if one["topic"] in owners:
            raise InvalidValueError("The topic “%(number)s” is given twice.", number=one["topic"])
        owners[one["topic"]] = one["judge"]
    return owners


def _note(session: Transaction, slug: str, owners: Mapping[str, str | None]) -> None:
    for judge, numbers in topic_owners.by_owner(owners).items():
        note(session, "topics.assign", slug, subject=judge or "", details={"topics": numbers})
