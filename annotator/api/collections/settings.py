"""Collections by program: create, copy, close and reopen them, and change their settings."""

from collections.abc import Mapping
from dataclasses import fields as columns_of
from dataclasses import replace
from typing import Any

from flask import request
from marshmallow import Schema, fields

from annotator.api.collections.audit import note
from annotator.api.collections.collection import GradeView, resource
from annotator.api.site.access import ADMINISTER, ORGANISE, READ, Gate, caller
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.jobs_asked import given_to_worker
from annotator.api.site.values import Moment, Text, one_of, whole
from annotator.errors import InvalidValueError
from annotator.evaluation.qrels.scale import GradeMeaning
from annotator.storage import JudgingMode, Role
from annotator.storage.tables.collections import CollectionKind
from annotator.web.site.background import work
from annotator.web.site.context import database, now
from annotator.workflows.collections import collection
from annotator.workflows.collections.collection import CollectionChange
from annotator.workflows.collections.next_collection import copy_collection
from annotator.workflows.collections.queue_settings import QueueChange, foresee_queue
from annotator.workflows.runs import submissions
from annotator.workflows.runs.submissions import SubmissionChange

ADMINISTER_ONE = Gate(ADMINISTER.scopes, frozenset([Role.ORGANISER]), administrator=True)
KINDS = {"description": "shared-task or comparison."}
MODES = {"description": "shared: any judge draws from any topic; owned: each topic has an owner."}

TAG_START = {"description": "How tags of participants' runs begin; {team} is the team's name, and empty is no rule."}
MOST_TAG_CHARACTERS = {"description": "The length of the longest tag of a participant's run."}
PLAIN_TAGS = {
    "description": "Whether tags of participants' runs have only letters from A to Z, a to z, digits, “.”, “_” and “-”."
}
MOST_RUNS = {"description": "The most active runs of a team, in each round; organisers may send more. 0: no limit."}
CORPUS = {"description": "Where the documents are and how participants get them; empty: not stated."}
SHARES_DOCNOS = {"description": "Whether participants may download the list of valid docnos."}
SHARES_QRELS = {
    "description": (
        "Whether participants may download the qrels version of released scores, while these are released and no more "
        "runs are accepted."
    )
}


class GradeBody(Schema):
    """A grade of the scale."""

    value = whole(0, 9, required=True, metadata={"description": "The value of the grade, as qrels have it."})
    name = Text(required=True, metadata={"description": "The name of the grade."})
    description = Text(load_default="", metadata={"description": "What the grade means."})


class ChangeBody(Schema):
    """The settings to change; those that are left out stay as they are."""

    title = Text()
    kind = one_of(CollectionKind, metadata=KINDS)
    scale = fields.List(
        fields.Nested(GradeBody), metadata={"description": "All grades; a grade that was used cannot be left out."}
    )
    relevant_from = whole(0, 9)
    judgements_wanted = whole(1, metadata={"description": "How many judges see each document of the pool."})
    consensus_policy = Text(metadata={"description": "How several grades of a document become one."})
    leaves_out_disputed = fields.Boolean(
        metadata={"description": "Whether documents in dispute are left out of the qrels until they are decided."}
    )
    counts_machines = fields.Boolean(metadata={"description": "Whether grades of machine judges enter the qrels."})
    shows_grades = fields.Boolean(metadata={"description": "Whether adjudicators see the differing grades."})
    judges_search = fields.Boolean(metadata={"description": "Whether judges may search the corpus."})
    judges_compare = fields.Boolean(
        metadata={"description": "Whether judges may open their own judgements of similar documents."}
    )
    judges_highlight = fields.Boolean(metadata={"description": "Whether words are highlighted on the judging screen."})
    pay_per_hour = fields.Float(metadata={"description": "What a judge costs per hour; 0: not stated."})
    pay_currency = Text(metadata={"description": "The currency of the pay: three letters."})
    judging_mode = one_of(JudgingMode, metadata=MODES)
    overlap_share = whole(0, 100, metadata={"description": "The percentage of documents that are judged twice."})
    reshow_share = whole(0, 100, metadata={"description": "The percentage of documents shown to a judge again."})
    common_items = whole(0, metadata={"description": "Documents of each topic that every judge of it judges."})
    submissions_until = Text(
        allow_none=True,
        metadata={"description": "The deadline for runs, such as “2026-05-01 23:59 AoE”; null for none."},
    )
    terms = Text(metadata={"description": "The terms for participants, in Markdown; empty for none."})
    most_documents = whole(1, metadata={"description": "A run with more documents for a topic gets a warning."})
    tag_start = Text(metadata=TAG_START)
    most_tag_characters = whole(1, metadata=MOST_TAG_CHARACTERS)
    plain_tags = fields.Boolean(metadata=PLAIN_TAGS)
    most_runs = whole(0, metadata=MOST_RUNS)
    corpus = Text(metadata=CORPUS)
    shares_docnos = fields.Boolean(metadata=SHARES_DOCNOS)
    shares_qrels = fields.Boolean(metadata=SHARES_QRELS)


class NewBody(Schema):
    """A new collection."""

    slug = Text(load_default=None, metadata={"description": "The short name; left out, it is made from the title."})
    title = Text(required=True)
    kind = one_of(CollectionKind, load_default=CollectionKind.SHARED_TASK.value, metadata=KINDS)
    scale = fields.List(fields.Nested(GradeBody), required=True)
    relevant_from = whole(0, 9, load_default=1)
    judgements_wanted = whole(
        1, load_default=1, metadata={"description": "How many judges see each document of the pool."}
    )
    consensus_policy = Text(load_default=None, metadata={"description": "How several grades of a document become one."})


class CopyBody(Schema):
    """The copy."""

    slug = Text(required=True, metadata={"description": "The short name of the copy."})
    title = Text(load_default=None, metadata={"description": "The title of the copy; left out, the same."})
    documents = fields.Boolean(
        load_default=False,
        metadata={
            "description": "Also copy the documents that have a text, and the list of docnos; a background job does it."
        },
    )


class SettingsView(Schema):
    """Every setting of a collection."""

    slug = fields.String(required=True)
    title = fields.String(required=True)
    kind = fields.String(required=True, metadata=KINDS)
    closed = fields.Boolean(required=True)
    scale = fields.List(fields.Nested(GradeView), required=True)
    relevant_from = fields.Integer(required=True)
    judgements_wanted = fields.Integer(
        required=True, metadata={"description": "How many judges see each document of the pool."}
    )
    consensus_policy = fields.String(
        required=True, metadata={"description": "How several grades of a document become one."}
    )
    leaves_out_disputed = fields.Boolean(
        required=True,
        metadata={"description": "Whether documents in dispute are left out of the qrels until they are decided."},
    )
    counts_machines = fields.Boolean(
        required=True, metadata={"description": "Whether grades of machine judges enter the qrels."}
    )
    shows_grades = fields.Boolean(
        required=True, metadata={"description": "Whether adjudicators see the differing grades."}
    )
    judges_search = fields.Boolean(required=True, metadata={"description": "Whether judges may search the corpus."})
    judges_compare = fields.Boolean(
        required=True, metadata={"description": "Whether judges may open their own judgements of similar documents."}
    )
    judges_highlight = fields.Boolean(
        required=True, metadata={"description": "Whether words are highlighted on the judging screen."}
    )
    pay_per_hour = fields.Float(
        required=True, allow_none=True, metadata={"description": "What a judge costs per hour; null: not stated."}
    )
    pay_currency = fields.String(required=True, metadata={"description": "The currency of the pay; may be empty."})
    judging_mode = fields.String(required=True, metadata=MODES)
    overlap_share = fields.Integer(
        required=True, metadata={"description": "The percentage of documents that are judged twice."}
    )
    reshow_share = fields.Integer(
        required=True, metadata={"description": "The percentage of documents shown to a judge again."}
    )
    common_items = fields.Integer(
        required=True, metadata={"description": "Documents of each topic that every judge of it judges."}
    )
    submissions_until = Moment(required=True, allow_none=True)
    submissions_until_written = fields.String(
        required=True, metadata={"description": "The deadline as it was entered, with its zone; may be empty."}
    )
    terms = fields.String(required=True, metadata={"description": "The terms for participants; empty: none."})
    most_documents = fields.Integer(
        required=True, metadata={"description": "A run with more documents for a topic gets a warning."}
    )
    tag_start = fields.String(required=True, metadata=TAG_START)
    most_tag_characters = fields.Integer(required=True, metadata=MOST_TAG_CHARACTERS)
    plain_tags = fields.Boolean(required=True, metadata=PLAIN_TAGS)
    most_runs = fields.Integer(required=True, metadata=MOST_RUNS)
    corpus = fields.String(required=True, metadata=CORPUS)
    shares_docnos = fields.Boolean(required=True, metadata=SHARES_DOCNOS)
    shares_qrels = fields.Boolean(required=True, metadata=SHARES_QRELS)


class CopiedView(SettingsView):
    """The settings of the copy."""

    documents = fields.Integer(required=True, metadata={"description": "The number of documents that were copied."})


@operation(resource, "POST", "/collections", ADMINISTER, Gives(SettingsView, 201), Takes(body=NewBody))
def create_collection(call: Call) -> object:
    """Create a collection, with the caller as its first organiser; for administrators."""
    given = {**call.body, "kind": CollectionKind(call.body["kind"]), "scale": _scale(call.body["scale"])}
    with database().transaction() as session:
        slug = collection.add_collection(session, **given, organiser=caller().name, added_at=now())
        note(session, "collections.add", slug, details={"kind": given["kind"]})
    return database().read(collection.show_collection, slug)


@operation(resource, "GET", "/collections/<slug>/settings", READ, Gives(SettingsView))
def show_settings(call: Call) -> object:
    """Show every setting of a collection."""
    return database().read(collection.show_collection, call.slug)


@operation(resource, "PATCH", "/collections/<slug>/settings", ORGANISE, Gives(SettingsView), Takes(body=ChangeBody))
def change_settings(call: Call) -> object:
    """Change settings of a collection; more judgements per document add judging work."""
    if not call.body:
        raise InvalidValueError("Name at least one setting.")
    settings, queue, rules = _changes(call.body)
    wanted = settings.judgements_wanted
    # Comparing a large pool with the settings takes a while and must not block other writers.
    foreseen = database().read(foresee_queue, call.slug, queue, judgements_wanted=wanted)
    with database().transaction() as session:
        policy = submissions.change_settings(session, call.slug, settings, queue, rules, foreseen=foreseen)
        details = vars(settings) | {"consensus_policy": policy} | vars(queue) | rules.details()
        note(session, "collections.set", call.slug, details=details)
    return database().read(collection.show_collection, call.slug)


@operation(resource, "POST", "/collections/<slug>/close", ORGANISE, Gives(SettingsView))
def close_collection(call: Call) -> object:
    """Close the collection for imports and judging; reading and exports remain."""
    with database().transaction() as session:
        collection.close_collection(session, call.slug)
        note(session, "collections.close", call.slug)
    return database().read(collection.show_collection, call.slug)


@operation(resource, "POST", "/collections/<slug>/reopen", ORGANISE, Gives(SettingsView))
def reopen_collection(call: Call) -> object:
    """Reopen the collection for imports and judging."""
    with database().transaction() as session:
        collection.reopen_collection(session, call.slug)
        note(session, "collections.reopen", call.slug)
    return database().read(collection.show_collection, call.slug)


@operation(
    resource,
    "POST",
    "/collections/<slug>/copy",
    ADMINISTER_ONE,
    Gives(CopiedView, 201),
    Takes(body=CopyBody, long=True),
)
def copy(call: Call) -> object:
    """Create a collection with the settings, scale and guidelines of this one; for administrators.

    The caller is its first organiser. Topics, runs, judgements and members are not copied.
    """
    if call.body["documents"] and work() is None:
        return given_to_worker(call.slug, request.get_data())
    new, organiser = call.body["slug"], caller().name
    with database().transaction() as session:
        count = copy_collection(
            session,
            call.slug,
            new,
            title=call.body["title"],
            with_documents=call.body["documents"],
            organiser=organiser,
            at=now(),
        )
        note(session, "members.add", new, subject=organiser, details={"role": Role.ORGANISER})
        note(session, "collections.copy", new, subject=call.slug, details={"documents": count})
    return {**vars(database().read(collection.show_collection, new)), "documents": count}


def _changes(body: Mapping[str, Any]) -> tuple[CollectionChange, QueueChange, SubmissionChange]:
    """The given settings, as the three parts of the collection that the workflow changes."""
    given = dict(body)
    if "scale" in given:
        given["scale"] = _scale(given["scale"])
    for name, kind in (("kind", CollectionKind), ("judging_mode", JudgingMode)):
        if name in given:
            given[name] = kind(given[name])
    until = given.pop("submissions_until", "")
    deadline = None if until == "" else submissions.read_deadline(until or "")
    of_settings, of_queue, of_rules = (
        {one.name for one in columns_of(kind)} for kind in (CollectionChange, QueueChange, SubmissionChange)
    )
    return (
        CollectionChange(**{name: value for name, value in given.items() if name in of_settings}),
        QueueChange(**{name: value for name, value in given.items() if name in of_queue}),
        replace(SubmissionChange(**{name: given[name] for name in of_rules & given.keys()}), deadline=deadline),
    )


def _scale(grades: list[Mapping[str, Any]]) -> tuple[GradeMeaning, ...]:
    """The grades, checked as those of the page; a name with a sign that scales use to separate is refused."""
    given = [
        GradeMeaning(one["value"], " ".join(one["name"].split()), " ".join(one["description"].split()))
        for one in grades
    ]
    lines = (f"{one.value}={one.name} | {one.description}" for one in given)
    read = collection.read_scale("\n".join(lines) + "\n")
    if read != tuple(sorted(given, key=lambda one: one.value)):
        raise InvalidValueError("The name of a grade has no “|”.")
    return read
