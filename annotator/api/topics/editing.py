"""Topics by hand: draft, show, edit, accept, drop, restore; those flagged for dropping."""

from marshmallow import Schema, fields

from annotator.api.collections.audit import note
from annotator.api.site.access import ORGANISE, READ
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.values import Text
from annotator.api.topics.topics import resource
from annotator.errors import InvalidValueError
from annotator.web.site.adaptive import choices_to_come
from annotator.web.site.context import database
from annotator.workflows.qrels.flagged_topics import flagged_topics
from annotator.workflows.topics import topic_editing
from annotator.workflows.topics.topic_editing import TopicView, TopicWords

NUMBERS = {"description": "The numbers of the topics."}


class TopicText(Schema):
    """The texts to change; those that are left out stay as they are."""

    title = Text()
    description = Text()
    narrative = Text()
    language = Text(metadata={"description": "The code of the language, such as en or ko; empty for none."})


class DraftBody(Schema):
    """A new draft."""

    number = Text(required=True, metadata={"description": "The number of the topic: one word."})
    title = Text(required=True)
    description = Text(load_default="")
    narrative = Text(load_default="")
    language = Text(load_default=None, allow_none=True)


class TopicDetails(Schema):
    """A topic with everything organisers see of it."""

    number = fields.String(required=True, metadata={"description": "The number of the topic."})
    title = fields.String(required=True)
    description = fields.String(required=True)
    narrative = fields.String(required=True)
    language = fields.String(required=True, allow_none=True)
    state = fields.String(required=True, metadata={"description": "draft, accepted or dropped."})
    reason = fields.String(required=True, metadata={"description": "Why it was dropped; empty otherwise."})
    is_judged = fields.Boolean(
        required=True, metadata={"description": "Whether documents were judged by its text, which cannot change then."}
    )


class NumbersBody(Schema):
    """Topics to accept or to restore."""

    numbers = fields.List(Text(), required=True, metadata=NUMBERS)


class DropBody(NumbersBody):
    """Topics to drop, and why."""

    reason = Text(required=True, metadata={"description": "The reason, shown with the topic and in manifests."})


class TopicsMoved(Schema):
    """The topics that are in another state now."""

    numbers = fields.List(
        fields.String,
        required=True,
        metadata={"description": "The numbers of the topics whose state changed, in the order of the request."},
    )


class TopicFlagView(Schema):
    """A topic with too few or too many relevant documents to tell runs apart."""

    number = fields.String(required=True, metadata={"description": "The number of the topic."})
    fault = fields.String(required=True, metadata={"description": "few or many: of relevant documents."})
    sentence = fields.String(required=True, metadata={"description": "What is wrong, in a sentence."})
    pooled = fields.Integer(required=True, metadata={"description": "The number of documents in its pool."})
    judged = fields.Integer(required=True, metadata={"description": "The number of documents with a settled grade."})
    relevant = fields.Integer(required=True, metadata={"description": "The number of relevant documents."})
    waiting = fields.Integer(required=True, metadata={"description": "The number of documents not fully judged."})
    is_final = fields.Boolean(
        required=True, metadata={"description": "Whether no judgement that is still to come can change the flag."}
    )


@operation(resource, "GET", "/collections/<slug>/topics/<path:number>", READ, Gives(TopicDetails))
def show_topic(call: Call) -> object:
    """Show a topic."""
    return _shown(database().read(topic_editing.show_topic, call.slug, call.path["number"]))


@operation(
    resource, "POST", "/collections/<slug>/topic-drafts", ORGANISE, Gives(TopicDetails, 201), Takes(body=DraftBody)
)
def draft_topic(call: Call) -> object:
    """Create a draft, which only organisers see and which is not pooled before it is accepted."""
    given = dict(call.body)
    number = given.pop("number").strip()
    with database().transaction() as session:
        topic_editing.add_draft(session, call.slug, number, TopicWords(**given))
        note(session, "topics.add", call.slug, subject=number)
    return _shown(database().read(topic_editing.show_topic, call.slug, number))


@operation(
    resource,
    "PATCH",
    "/collections/<slug>/topics/<path:number>",
    ORGANISE,
    Gives(TopicDetails),
    Takes(body=TopicText),
)
def edit_topic(call: Call) -> object:
    """Change the text of a topic, unless documents were judged by it."""
    number = call.path["number"]
    if not call.body:
        raise InvalidValueError("Name at least one text to change.")
    with database().transaction() as session:
        topic_editing.change_some_words(session, call.slug, number, call.body)
        note(session, "topics.edit", call.slug, subject=number)
    return _shown(database().read(topic_editing.show_topic, call.slug, number))


@operation(resource, "POST", "/collections/<slug>/topics/accept", ORGANISE, Gives(TopicsMoved), Takes(body=NumbersBody))
def accept_topics(call: Call) -> object:
    """Accept drafts: they join the pool when it is built next."""
    with database().transaction() as session:
        numbers = topic_editing.accept_topics(session, call.slug, call.body["numbers"])
        note(session, "topics.accept", call.slug, subject=", ".join(numbers))
    return {"numbers": numbers}


@operation(resource, "POST", "/collections/<slug>/topics/drop", ORGANISE, Gives(TopicsMoved), Takes(body=DropBody))
def drop_topics(call: Call) -> object:
    """Drop topics for a reason: they are no longer judged, scored or in the qrels; their judgements stay."""
    reason = call.body["reason"]
    with database().transaction() as session:
        numbers = topic_editing.drop_topics(session, call.slug, call.body["numbers"], reason=reason)
        note(session, "topics.drop", call.slug, subject=", ".join(numbers), details={"reason": reason})
    return {"numbers": numbers}


@operation(
    resource, "POST", "/collections/<slug>/topics/restore", ORGANISE, Gives(TopicsMoved), Takes(body=NumbersBody)
)
def restore_topics(call: Call) -> object:
    """Restore dropped topics as accepted ones, with all their judgements."""
    with database().transaction() as session:
        numbers = topic_editing.restore_topics(session, call.slug, call.body["numbers"])
        note(session, "topics.restore", call.slug, subject=", ".join(numbers))
    return {"numbers": numbers}


@operation(resource, "GET", "/collections/<slug>/topic-flags", READ, Gives(TopicFlagView, many=True), Takes(pages=True))
def list_topic_flags(call: Call) -> object:
    """List the accepted topics with too few or too many relevant documents, which organisers may want to drop."""
    to_come = choices_to_come(call.slug)
    flags = database().read(flagged_topics, call.slug, to_come=to_come)
    return [
        {
            **vars(one.topic),
            "fault": one.fault.name.lower(),
            "sentence": str(one.fault.sentence),
            "is_final": one.is_final,
        }
        for one in flags
    ]


def _shown(topic: TopicView) -> dict[str, object]:
    return {**vars(topic.words), **{name: value for name, value in vars(topic).items() if name != "words"}}
