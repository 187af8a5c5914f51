"""Search of the corpus for a topic, and the pooling of documents that a search found; for organisers."""

from marshmallow import Schema, fields, validate

from annotator.api.collections.audit import note
from annotator.api.documents.documents import resource
from annotator.api.site.access import ORGANISE, READ, caller
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.values import Text, counted
from annotator.evaluation.search.search_snippets import SnippetPart
from annotator.web.site.context import database, now, reach
from annotator.workflows.documents import search, search_adding, source_search
from annotator.workflows.documents.search import FoundDocument

HITS = 20
MOST_HITS = 1_000


class SearchQuery(Schema):
    """What is searched, and which page of the results."""

    q = Text(
        required=True,
        validate=validate.Length(min=1),
        metadata={"description": "All words are required; AND, OR, NOT, “phrase”, prefix* and ( ) are supported."},
    )
    topic = Text(load_default=None, metadata={"description": "The topic; documents of its pool are marked."})
    page = counted(1, load_default=1)
    page_size = counted(1, MOST_HITS, load_default=HITS)


class HitView(Schema):
    """A document that was found."""

    docno = fields.String(required=True)
    title = fields.String(required=True)
    snippet = fields.String(required=True, metadata={"description": "The part of the text that has the words."})
    marked = fields.List(
        fields.String, required=True, metadata={"description": "The words of title and snippet that were searched."}
    )
    language = fields.String(required=True, allow_none=True)
    pooled = fields.Boolean(
        required=True, metadata={"description": "Whether the pool of the topic of the search has it."}
    )


class HitsView(Schema):
    """One page of results, best first."""

    total = fields.Integer(required=True, metadata={"description": "The number of documents that were found."})
    more = fields.Boolean(
        required=True,
        metadata={
            "description": (
                "Whether more documents match. `total` is then the number of those that are listed, at most 10,000: "
                "the ones with the rarest of the words joined by OR, otherwise those imported first, in that order."
            )
        },
    )
    not_indexed = fields.Integer(
        required=True, metadata={"description": "The number of documents that no search finds yet."}
    )
    hits = fields.List(fields.Nested(HitView), required=True, metadata={"description": "The documents, best first."})


class FoundBody(Schema):
    """The documents to add, and the search that found them."""

    topic = Text(required=True, metadata={"description": "The number of the topic."})
    query = Text(required=True, metadata={"description": "The search that found the documents; it is kept with them."})
    docnos = fields.List(Text, required=True, metadata={"description": "The documents, at most a thousand."})


class FoundAdded(Schema):
    """What became of the documents."""

    version = fields.Integer(required=True)
    added = fields.Integer(required=True)
    already_pooled = fields.Integer(
        required=True, metadata={"description": "The number of documents that were in the pool already."}
    )


@operation(resource, "GET", "/collections/<slug>/search", READ, Gives(HitsView), Takes(query=SearchQuery))
def search_documents(call: Call) -> object:
    """Search the texts of the collection, or its source where that offers search, for a topic or for none."""
    asked = call.query
    most = asked["page_size"]
    first = (asked["page"] - 1) * most
    from_source = source_search.ask_source(database(), call.slug, asked["q"], reach=reach(), first=first, most=most)
    with database().reading() as session:
        found = search.find_documents(
            session, call.slug, asked["q"], topic=asked["topic"], first=first, most=most, from_source=from_source
        )
        not_indexed = search.count_not_indexed(session, call.slug)
    counts = {"total": found.total, "more": found.more, "not_indexed": not_indexed}
    return {**counts, "hits": list(map(_hit, found.hits))}


@operation(resource, "POST", "/collections/<slug>/pool/found", ORGANISE, Gives(FoundAdded), Takes(body=FoundBody))
def pool_found(call: Call) -> object:
    """Add documents that a search found to the pool of a topic; the caller is kept as their searcher."""
    topic, query = call.body["topic"], call.body["query"]
    from_source = source_search.fetch_found(database(), call.slug, call.body["docnos"], reach=reach(), at=now())
    with database().transaction() as session:
        added = search_adding.add_found(
            session,
            call.slug,
            topic=topic,
            docnos=call.body["docnos"],
            query=query,
            actor_id=caller().id,
            at=now(),
            from_source=from_source,
        )
        note(session, "pool.add", call.slug, subject=topic, details={"query": query, "added": added.added})
    return added


def _hit(hit: FoundDocument) -> dict[str, object]:
    parts = (*hit.title, *hit.snippet)
    return {
        **vars(hit),
        "title": _text(hit.title),
        "snippet": _text(hit.snippet),
        "marked": list(dict.fromkeys(part.text for part in parts if part.marked)),
    }


def _text(parts: tuple[SnippetPart, ...]) -> str:
    return "".join(part.text for part in parts)
