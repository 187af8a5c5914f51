"""Full-text search for a topic: organisers add results to the pool, judges judge them."""

from dataclasses import dataclass
from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError, ConflictError, InvalidValueError, NotFoundError
from annotator.storage import Role, TopicState
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, reach, the_person, the_place
from annotator.web.site.error_pages import status_of
from annotator.web.site.language import gettext
from annotator.workflows.documents import search, search_adding, source_search
from annotator.workflows.documents.search import JudgesSearchPage, SearchPage
from annotator.workflows.topics import topics
from annotator.workflows.topics.topics import TopicRow

blueprint = Blueprint("search", __name__)

HITS = 20
LAST_PAGE = 10_000
SEARCHERS = (Role.ORGANISER, Role.JUDGE)


@dataclass(frozen=True)
class Asked:
    """The search in the query string; pages count from 1."""

    query: str
    topic: str
    page: int

    @classmethod
    def of_request(cls) -> "Asked":
        """Read it from the query string or from the hidden fields of a form."""
        page = request.values.get("page", "1")
        number = int(page) if page.isascii() and page.isdecimal() else 1
        return cls(request.values.get("q", "").strip(), request.values.get("topic", ""), min(max(number, 1), LAST_PAGE))

    @property
    def address(self) -> dict[str, Any]:
        """The search as query string arguments, without defaults."""
        return {
            name: value
            for name, value in (("topic", self.topic), ("q", self.query), ("page", self.page))
            if value not in {"", 1}
        }


@blueprint.get("/collections/<slug>/search")
@collection_page(*SEARCHERS)
def show(slug: str) -> ResponseReturnValue:
    """The results of `?q=` for the topic of `?topic=`."""
    return _page(slug, Asked.of_request())


@blueprint.get("/collections/<slug>/search/document")
@collection_page(*SEARCHERS)
def document(slug: str) -> ResponseReturnValue:
    """The document of `?docno=`, with a link back to its search."""
    asked = Asked.of_request()
    _refuse_unless_open()
    opened = source_search.open_document(database(), slug, request.args.get("docno", ""), reach=reach())
    return render_template(
        "documents/search/document.html", document=opened, asked=asked, topic=_chosen(_topics(slug), asked)
    )


@blueprint.post("/collections/<slug>/search/add")
@collection_page(Role.ORGANISER)
def add(slug: str) -> ResponseReturnValue:
    """Add the selected documents to the pool."""
    asked, docnos = Asked.of_request(), request.form.getlist("docno")
    try:
        from_source = source_search.fetch_found(database(), slug, docnos, reach=reach(), at=now())
        with database().transaction() as session:
            added = search_adding.add_found(
                session,
                slug,
                topic=asked.topic,
                docnos=docnos,
                query=asked.query,
                actor_id=the_person().id,
                at=now(),
                from_source=from_source,
            )
            note(session, "pool.add", slug, subject=asked.topic, details={"query": asked.query, "added": added.added})
    except (InvalidValueError, NotFoundError) as refusal:
        return _page(slug, asked, refusal)
    flash(
        gettext(
            "Documents added to the pool of topic %(number)s: %(added)d; in it already: %(pooled)d.",
            number=asked.topic,
            added=added.added,
            pooled=added.already_pooled,
        )
    )
    return _back(slug, asked)


@blueprint.post("/collections/<slug>/search/judge")
@collection_page(Role.JUDGE)
def judge(slug: str) -> ResponseReturnValue:
    """Assign a document to the judge and open it on the judging screen, with a link back to the results."""
    asked = Asked.of_request()
    search.refuse_judges_unless(judges_search=the_place().collection.judges_search)
    docno = request.form.get("docno", "")
    from_source = source_search.fetch_found(database(), slug, [docno], reach=reach(), at=now())
    with database().transaction() as session:
        assignment_id = search_adding.take_for_judging(
            session,
            slug,
            topic=asked.topic,
            docno=docno,
            from_source=from_source,
            query=asked.query,
            judge_id=the_person().id,
            now=now(),
        )
        note(session, "pool.add", slug, subject=asked.topic, details={"query": asked.query})
    back = url_for(".show", slug=slug, **asked.address)
    return redirect(url_for("judging.show", slug=slug, assignment_id=assignment_id, back=back), 303)


def _page(slug: str, asked: Asked, refusal: AnnotatorError | None = None) -> ResponseReturnValue:
    _refuse_unless_open()
    offered = _topics(slug)
    if not the_place().organises and not asked.topic and offered:
        # A judge searches for a topic: the first one by default.
        asked = Asked(asked.query, offered[0].number, asked.page)
    found: SearchPage | JudgesSearchPage | None = None
    try:
        found = _found(slug, asked) if asked.query else None
    except (ConflictError, InvalidValueError, NotFoundError) as unreadable:
        refusal = refusal or unreadable
    page = render_template(
        "documents/search/show.html",
        asked=asked,
        found=found,
        not_indexed=_not_indexed(slug) if found else 0,
        refusal=refusal,
        topics=offered,
        topic=_chosen(offered, asked),
        first=(asked.page - 1) * HITS,
        pages=-(-found.total // HITS) if found else 0,
    )
    return page, status_of(refusal) if refusal else 200


def _found(slug: str, asked: Asked) -> SearchPage | JudgesSearchPage:
    first = (asked.page - 1) * HITS
    found = source_search.ask_source(database(), slug, asked.query, reach=reach(), first=first, most=HITS)
    with database().reading() as session:
        if the_place().organises:
            return search.find_documents(
                session, slug, asked.query, topic=asked.topic or None, first=first, most=HITS, from_source=found
            )
        return search.find_to_judge(
            session,
            slug,
            asked.query,
            topic=asked.topic,
            judge_id=the_person().id,
            first=first,
            most=HITS,
            from_source=found,
        )


def _not_indexed(slug: str) -> int:
    return database().read(search.count_not_indexed, slug)


def _topics(slug: str) -> list[TopicRow]:
    """The topics available for search; organisers also see drafts."""
    rows = database().read(topics.list_topics, slug)
    wanted = {TopicState.ACCEPTED, TopicState.DRAFT} if the_place().organises else {TopicState.ACCEPTED}
    return [row for row in rows if row.state in wanted]


def _chosen(offered: list[TopicRow], asked: Asked) -> TopicRow | None:
    return next((row for row in offered if row.number == asked.topic), None)


def _refuse_unless_open() -> None:
    if not the_place().organises:
        search.refuse_judges_unless(judges_search=the_place().collection.judges_search)


def _back(slug: str, asked: Asked) -> ResponseReturnValue:
    return redirect(url_for(".show", slug=slug, **asked.address), 303)
