"""The source of a collection's texts: set, try and remove it, fetch from it, see what could not be fetched."""

from flask import Blueprint, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import StringField, TextAreaField
from wtforms.validators import InputRequired

from annotator.errors import AnnotatorError
from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, reach, the_person
from annotator.web.site.downloads import CSV, download
from annotator.web.site.error_pages import status_of
from annotator.web.site.forms import Form, confirmation, done, is_confirmed, unix_lines
from annotator.web.site.language import format_number, gettext, lazy_gettext
from annotator.workflows.documents import sources
from annotator.workflows.documents.sources import SourceCheck

blueprint = Blueprint("document_sources", __name__)

FAILURES_SHOWN = 200
PLAIN_TEXT = {"autocapitalize": "none", "autocomplete": "off", "spellcheck": "false"}


class SourceForm(Form):
    """A source, in place of an earlier one."""

    location = StringField(
        lazy_gettext("Address, folder or data set"),
        [InputRequired()],
        description=lazy_gettext(
            "The address that returns a document as JSON, with {docno} in place of its docno; a folder of the "
            "server with JSON Lines, plain or gzipped; or ir_datasets:NAME."
        ),
        render_kw={**PLAIN_TEXT, "placeholder": "https://corpus.example.org/segments/{docno}"},
    )
    paths = TextAreaField(
        lazy_gettext("Paths into the JSON"),
        filters=[unix_lines],
        description=lazy_gettext(
            "Needed for other names than docno, title, body, url and language, a line each: body=hit.parts[*].text. "
            "For the search: hits, hit_docno, hit_title, hit_snippet."
        ),
        render_kw={**PLAIN_TEXT, "rows": 3},
    )
    search = StringField(
        lazy_gettext("Address of its search"),
        description=lazy_gettext(
            "Optional, with {query}, and {first} and {most} for pages of results. Searches of organisers and judges "
            "are then passed to it."
        ),
        render_kw={**PLAIN_TEXT, "placeholder": "https://corpus.example.org/search?q={query}"},
    )


@blueprint.get("/collections/<slug>/documents/source")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """The source, how far fetching has come, and what could not be fetched."""
    return _page(slug)


@blueprint.post("/collections/<slug>/documents/source")
@collection_page(Role.ORGANISER)
def set_source(slug: str) -> ResponseReturnValue:
    """Set the source in place of an earlier one."""
    form = SourceForm()
    if form.validate():
        with form.guard():
            options = sources.parse_options(
                [line for line in (form.paths.data or "").split("\n") if line.strip()], (form.search.data or "").strip()
            )
            with database().transaction() as session:
                kind = sources.set_source(
                    session,
                    slug,
                    form.location.data.strip(),
                    options,
                    reach=reach(),
                    by_id=the_person().id,
                    by_command=False,
                    at=now(),
                )
                note(session, "sources.set", slug, details={"kind": kind})
    if form.refused:
        return _page(slug, form), form.status
    sentence = gettext("The source is set. A worker fetches the texts of pooled documents that are missing.")
    return done(sentence, ".show", slug=slug)


@blueprint.post("/collections/<slug>/documents/source/check")
@collection_page(Role.ORGANISER)
def check(slug: str) -> ResponseReturnValue:
    """Try the source with some documents, and show what came."""
    docnos = request.form.get("docnos", "").split()
    try:
        checked = sources.check_source(database(), slug, docnos, reach=reach())
    except AnnotatorError as refusal:
        if database().read(sources.find_view, slug) is None:
            raise
        return _page(slug, refused=refusal), status_of(refusal)
    return _page(slug, checked=checked)


@blueprint.post("/collections/<slug>/documents/source/fetch")
@collection_page(Role.ORGANISER)
def fetch(slug: str) -> ResponseReturnValue:
    """Have a worker fetch now, with `again` also what was fetched before."""
    again = bool(request.form.get("again"))
    with database().transaction() as session:
        count = sources.fetch_now(session, slug, again=again, at=now())
        note(session, "sources.fetch", slug, details={"again": again, "documents": count})
    sentence = gettext("A worker fetches them now: %(count)d, and what was pooled since.", count=count)
    return done(sentence, ".show", slug=slug)


@blueprint.post("/collections/<slug>/documents/source/remove")
@collection_page(Role.ORGANISER)
def remove(slug: str) -> ResponseReturnValue:
    """Remove the source, after a confirmation."""
    found = database().read(sources.show_source, slug)
    if not is_confirmed():
        return confirmation(
            gettext("Remove the source of documents"),
            figures={gettext("Fetched"): format_number(found.counts.fetched)},
            notes=[gettext("Texts that were fetched stay. No further ones are fetched.")],
            button=gettext("Remove the source"),
            back=url_for(".show", slug=slug),
            destroys=True,
        )
    form = Form()
    with form.guard(), database().transaction() as session:
        sources.remove_source(session, slug)
        note(session, "sources.remove", slug)
    if form.refused:
        return _page(slug, refused=form.refusal), form.status
    return done(gettext("Removed the source of documents."), ".show", slug=slug)


@blueprint.get("/collections/<slug>/documents/source/failures.csv")
@collection_page(Role.ORGANISER)
def failures_file(slug: str) -> ResponseReturnValue:
    """The documents that could not be fetched as CSV."""
    failures = database().read(sources.list_failures, slug)
    return download(sources.failures_csv(failures), f"{slug}-not-fetched.csv", CSV)


def _page(
    slug: str,
    form: SourceForm | None = None,
    *,
    checked: SourceCheck | None = None,
    refused: AnnotatorError | None = None,
) -> str:
    source = database().read(sources.find_view, slug)
    failures = [] if source is None else database().read(sources.list_failures, slug)
    if form is None:
        form = SourceForm(formdata=None)
        if source is not None:
            form.location.data, form.search.data = source.location, source.options.search
            form.paths.data = "\n".join(sources.written_paths(source.options))
    return render_template(
        "documents/source.html",
        source=source,
        failures=failures[:FAILURES_SHOWN],
        total=len(failures),
        form=form,
        checked=checked,
        refused=refused,
        allowed=[*reach().hosts, *reach().places],
    )
