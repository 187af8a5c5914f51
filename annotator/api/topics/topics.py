"""Topics: list them, import a file of them."""

from marshmallow import Schema, fields

from annotator.api.collections.audit import note
from annotator.api.site.access import ORGANISE, gate_of
from annotator.api.site.door import Call, Gives, Takes, operation, resource_of
from annotator.api.site.values import Text, input_format
from annotator.evaluation.formats.input_formats import Holds
from annotator.files import InputFile
from annotator.storage import Role, TopicState
from annotator.web.site.context import database, settings, the_place
from annotator.workflows.people.tokens import Scope
from annotator.workflows.topics import topics

resource = resource_of("topics", "The information needs: title, description, narrative.")


class TopicView(Schema):
    """A topic; participants see those that are accepted, or were pooled before they were dropped."""

    number = fields.String(required=True)
    title = fields.String(required=True)
    description = fields.String(required=True)
    narrative = fields.String(required=True)
    language = fields.String(required=True, allow_none=True)
    state = fields.String(required=True, metadata={"description": "draft, accepted or dropped."})
    reason = fields.String(required=True, metadata={"description": "Why it was dropped; empty except for organisers."})


class ImportQuery(Schema):
    """How a file of topics is to be read."""

    name = Text(load_default="topics", metadata={"description": "The file's name, used in the problems."})
    input_format = input_format(Holds.TOPICS)
    draft = fields.Boolean(
        load_default=False,
        metadata={"description": "Import them as drafts, which are not pooled before they are accepted."},
    )
    dry_run = fields.Boolean(load_default=False, metadata={"description": "Only check and count; nothing is stored."})


class TopicsImported(Schema):
    """What an import came to."""

    added = fields.Integer(required=True)
    changed = fields.Integer(required=True)
    unchanged = fields.Integer(required=True)


@operation(
    resource,
    "GET",
    "/collections/<slug>/topics",
    gate_of([Scope.READ, Scope.RUNS], [Role.ORGANISER, Role.PARTICIPANT]),
    Gives(TopicView, many=True),
    Takes(pages=True),
)
def list_topics(call: Call) -> object:
    """List the topics in their natural order."""
    which = topics.list_topics if the_place().organises else topics.published_topics
    return database().read(which, call.slug)


@operation(
    resource, "POST", "/collections/<slug>/topics", ORGANISE, Gives(TopicsImported), Takes(query=ImportQuery, file=True)
)
def import_topics(call: Call) -> object:
    """Import a file of topics, completely or not at all: TSV, TREC SGML or XML, CSV, JSON, Parquet.

    Sending it again changes nothing.
    """
    file = InputFile(call.query["name"], call.content, call.query["input_format"])
    read = topics.read_topics([file], unpacked_limit=settings().unpacked_limit)
    state = TopicState.DRAFT if call.query["draft"] else TopicState.ACCEPTED
    with database().transaction(keep=not call.query["dry_run"]) as session:
        stored = topics.import_topics(session, call.slug, read, state=state, most=settings().topic_limit)
        note(session, "topics.import", call.slug, subject=file.name, details=vars(stored))
    return stored
