"""The source of a collection's texts: set, show, try and remove it, fetch from it, list what could not be fetched."""

from marshmallow import Schema, fields

from annotator.api.collections.audit import note
from annotator.api.documents.documents import resource
from annotator.api.site.access import ORGANISE, caller
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.values import Moment, Text
from annotator.web.site.context import database, now, reach
from annotator.workflows.documents import sources
from annotator.workflows.documents.sources import SourceView

PATH = "/collections/<slug>/document-source"
PATHS = {
    "description": (
        "Paths into what it answers, OURS=PATH, such as “body=hit.parts[*].text”; ours is docno, title, body, url, "
        "language, and for its search hits, hit_docno, hit_title, hit_snippet."
    )
}


class SourceBody(Schema):
    """A source, in place of an earlier one."""

    location = Text(
        required=True,
        metadata={"description": "The address that returns a document as JSON, with {docno} in place of its docno."},
    )
    paths = fields.List(Text, load_default=list, metadata=PATHS)
    search = Text(
        load_default="",
        metadata={"description": "The address of its search with {query}, and {first} and {most} for pages."},
    )


class IndexAnswer(Schema):
    """The index of a folder."""

    percent = fields.Integer(required=True, metadata={"description": "How much of the files was read for it."})
    indexed_at = Moment(
        required=True, allow_none=True, metadata={"description": "When it was completed; null: not yet."}
    )
    documents = fields.Integer(required=True, allow_none=True, metadata={"description": "The documents that it has."})
    skipped = fields.Integer(required=True, metadata={"description": "The number of lines that are no documents."})
    first_skipped = fields.String(required=True, metadata={"description": "The first of them, as FILE:LINE."})


class SourceAnswer(Schema):
    """The source, and how far fetching has come."""

    kind = fields.String(required=True, metadata={"description": "address, folder or dataset."})
    location = fields.String(required=True, metadata={"description": "Where it is."})
    paths = fields.List(fields.String, required=True, metadata=PATHS)
    search = fields.String(required=True, metadata={"description": "The address of its search; empty: it has none."})
    set_by = fields.String(
        required=True, allow_none=True, metadata={"description": "The account that set it; null: by command."}
    )
    set_at = Moment(required=True, metadata={"description": "When it was set, in UTC."})
    problem = fields.String(
        required=True, metadata={"description": "Why it gave nothing the last time; empty: it gave something."}
    )
    paused_until = Moment(
        required=True, allow_none=True, metadata={"description": "Until when it is not asked after that."}
    )
    fetched = fields.Integer(required=True, metadata={"description": "The number of documents that were fetched."})
    waiting = fields.Integer(required=True, metadata={"description": "The number of documents to be fetched."})
    failing = fields.Integer(
        required=True, metadata={"description": "The number of documents that failed and are tried again."}
    )
    given_up = fields.Integer(
        required=True, metadata={"description": "The number of documents that are not tried again by themselves."}
    )
    index = fields.Nested(
        IndexAnswer, required=True, allow_none=True, metadata={"description": "Of a folder; null: it is none."}
    )


class CheckBody(Schema):
    """The documents to try."""

    docnos = fields.List(
        Text, load_default=list, metadata={"description": "At most twenty; none: some pooled documents."}
    )


class CheckedDocument(Schema):
    """What the source gave for a document."""

    docno = fields.String(required=True)
    title = fields.String(required=True)
    characters = fields.Integer(required=True, metadata={"description": "The length of the text."})
    problem = fields.String(required=True, metadata={"description": "Why nothing came; empty: it came."})


class SourceChecked(Schema):
    """What came when the source was tried."""

    problem = fields.String(required=True, metadata={"description": "Why nothing came at all; empty: something came."})
    documents = fields.List(fields.Nested(CheckedDocument), required=True)
    hits = fields.Integer(
        required=True, allow_none=True, metadata={"description": "Results of its search for “test”; null: none tried."}
    )
    search_problem = fields.String(required=True, metadata={"description": "Why its search gave nothing."})


class FetchBody(Schema):
    """What is fetched."""

    again = fields.Boolean(
        load_default=False, metadata={"description": "Also the texts that were fetched before, which may have changed."}
    )


class FetchAsked(Schema):
    """What a worker fetches now."""

    documents = fields.Integer(
        required=True, metadata={"description": "The number of documents, beside what was pooled since."}
    )


class NotFetched(Schema):
    """A document that could not be fetched."""

    docno = fields.String(required=True)
    reason = fields.String(required=True, metadata={"description": "What went wrong the last time."})
    attempts = fields.Integer(required=True, metadata={"description": "How often it was tried."})
    tried_at = Moment(required=True, allow_none=True, metadata={"description": "When it was tried last, in UTC."})
    next_at = Moment(required=True, allow_none=True, metadata={"description": "When it is tried next; null: never."})


@operation(resource, "PUT", PATH, ORGANISE, Gives(SourceAnswer), Takes(body=SourceBody))
def set_source(call: Call) -> object:
    """Set the source of the texts of pooled documents: one that an administrator has named.

    A worker fetches the texts that are missing; those that were fetched from an earlier source stay.
    """
    options = sources.parse_options(call.body["paths"], call.body["search"])
    with database().transaction() as session:
        kind = sources.set_source(
            session,
            call.slug,
            call.body["location"],
            options,
            reach=reach(),
            by_id=caller().id,
            by_command=False,
            at=now(),
        )
        note(session, "sources.set", call.slug, details={"kind": kind})
    return _answer(database().read(sources.show_source, call.slug))


@operation(resource, "GET", PATH, ORGANISE, Gives(SourceAnswer))
def show_source(call: Call) -> object:
    """The source, and how far fetching has come."""
    return _answer(database().read(sources.show_source, call.slug))


@operation(resource, "POST", f"{PATH}/check", ORGANISE, Gives(SourceChecked), Takes(body=CheckBody))
def check_source(call: Call) -> object:
    """Try the source, and its search if it has one; nothing is stored."""
    found = sources.check_source(database(), call.slug, call.body["docnos"], reach=reach())
    documents = [{**vars(one), "problem": str(one.problem or "")} for one in found.documents]
    return {
        "problem": str(found.problem or ""),
        "documents": documents,
        "hits": found.hits,
        "search_problem": str(found.search_problem or ""),
    }


@operation(resource, "POST", f"{PATH}/fetch", ORGANISE, Gives(FetchAsked), Takes(body=FetchBody))
def fetch_from_source(call: Call) -> object:
    """Have a worker try the missing texts now, also those that were given up."""
    again = call.body["again"]
    with database().transaction() as session:
        count = sources.fetch_now(session, call.slug, again=again, at=now())
        note(session, "sources.fetch", call.slug, details={"again": again, "documents": count})
    return {"documents": count}


@operation(resource, "DELETE", PATH, ORGANISE, Gives(SourceAnswer))
def remove_source(call: Call) -> object:
    """Remove the source; texts that were fetched stay."""
    shown = database().read(sources.show_source, call.slug)
    with database().transaction() as session:
        sources.remove_source(session, call.slug)
        note(session, "sources.remove", call.slug)
    return _answer(shown)


@operation(resource, "GET", f"{PATH}/failures", ORGANISE, Gives(NotFetched, many=True), Takes(pages=True))
def list_failed_fetches(call: Call) -> object:
    """List the documents whose last attempt failed, by docno."""
    return [{**vars(one), "reason": str(one.reason)} for one in database().read(sources.list_failures, call.slug)]


def _answer(view: SourceView) -> dict[str, object]:
    return {
        **vars(view),
        **vars(view.counts),
        "paths": sources.written_paths(view.options),
        "search": view.options.search,
        "problem": str(view.problem or ""),
    }
