"""Documents whose text has changed since they were judged: judged anew, or their grades let stand."""

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now
from annotator.web.site.downloads import CSV, download
from annotator.web.site.forms import Form
from annotator.web.site.language import gettext
from annotator.workflows.documents import documents

blueprint = Blueprint("changed_documents", __name__)

REQUEUE = "requeue"


@blueprint.get("/collections/<slug>/documents/changed")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """Which they are, and who said what of the old text."""
    return _page(slug, Form(formdata=None))


@blueprint.post("/collections/<slug>/documents/changed")
@collection_page(Role.ORGANISER)
def decide(slug: str) -> ResponseReturnValue:
    """Put the ticked ones back into the queue, or let their grades stand (`act=requeue`, else the other)."""
    form, docnos = Form(), request.form.getlist("docnos")
    is_requeue = request.form.get("act") == REQUEUE
    with form.guard(), database().transaction() as session:
        if is_requeue:
            count = documents.requeue_changed(session, slug, docnos, at=now())
        else:
            count = documents.let_changed_stand(session, slug, docnos)
        note(session, "documents.requeue" if is_requeue else "documents.let-stand", slug, details={"documents": count})
    if form.refused:
        return _page(slug, form), form.status
    if is_requeue:
        flash(gettext("Documents returned to the queue: %(count)d.", count=count))
    else:
        flash(gettext("Documents whose grades are kept: %(count)d.", count=count))
    return redirect(url_for(".show", slug=slug), 303)


@blueprint.get("/collections/<slug>/documents/changed.csv")
@collection_page(Role.ORGANISER)
def as_csv(slug: str) -> ResponseReturnValue:
    """The same, comma-separated, a line a judgement."""
    with database().reading() as session:
        changed = documents.changed_documents(session, slug)
    return download(documents.changed_csv(changed), f"{slug}-changed-documents.csv", CSV)


def _page(slug: str, form: Form) -> str:
    with database().reading() as session:
        changed = documents.changed_documents(session, slug)
    return render_template("documents/changed_documents.html", changed=changed, form=form)
