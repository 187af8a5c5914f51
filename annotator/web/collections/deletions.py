"""Deleting data of a collection after a confirmation with counts, and restoring deleted data."""

from datetime import datetime

from flask import Blueprint, flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, StringField
from wtforms.validators import AnyOf

from annotator.storage import DeletedKind, Role
from annotator.web.site.access import collection_page, signed_in_page
from annotator.web.site.audit_note import actor, note
from annotator.web.site.context import database, now, settings, the_person
from annotator.web.site.forms import Form, done
from annotator.web.site.language import gettext, lazy_gettext
from annotator.workflows.collections import restoring
from annotator.workflows.collections.deletions import Foreseen, delete_it, foresee_deletion, prepare_deletion
from annotator.workflows.pools import pools

blueprint = Blueprint("deletions", __name__)

KINDS = {
    DeletedKind.TOPIC: lazy_gettext("Topic"),
    DeletedKind.POOL: lazy_gettext("Version of the pool"),
    DeletedKind.LABELS: lazy_gettext("Import of labels"),
    DeletedKind.DOCUMENTS: lazy_gettext("Texts of documents"),
    DeletedKind.COLLECTION: lazy_gettext("Collection"),
}
COUNTS = {
    "topics": lazy_gettext("topics"),
    "documents": lazy_gettext("documents"),
    "judgements": lazy_gettext("judgements"),
    "judges": lazy_gettext("judges"),
}


class DeletionForm(Form):
    """The data to delete; `confirmed` after the counts were shown."""

    kind = StringField(validators=[AnyOf([kind.value for kind in DeletedKind])])
    # A number, or docnos separated by white space.
    subject = StringField()
    typed = StringField()
    confirmed = BooleanField()

    @property
    def subjects(self) -> list[str]:
        """The named topics or documents, without duplicates."""
        return list(dict.fromkeys((self.subject.data or "").split()))


@blueprint.get("/collections/<slug>/deletions")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """What can be restored and what can be deleted."""
    return _page(slug, DeletionForm(formdata=None))


@blueprint.post("/collections/<slug>/deletions")
@collection_page(Role.ORGANISER)
def delete(slug: str) -> ResponseReturnValue:
    """Show the counts of a deletion, and delete after confirmation."""
    form = DeletionForm()
    if not form.validate():
        return _page(slug, form), form.status
    kind, at = DeletedKind(form.kind.data), now()
    with form.guard(), database().reading() as session:
        foreseen = foresee_deletion(session, slug, kind, form.subjects, at=at)
    if form.refused:
        return _page(slug, form), form.status
    return _deleted(slug, form, foreseen, at) if form.confirmed.data else _confirmation(form, foreseen)


def _deleted(slug: str, form: DeletionForm, foreseen: Foreseen, at: datetime) -> ResponseReturnValue:
    kind, known = foreseen.kind, {"typed": form.typed.data, "foreseen": foreseen}
    with form.guard():
        prepared = database().read(prepare_deletion, slug, kind, form.subjects)
        with database().transaction() as session:
            delete_it(session, slug, kind, form.subjects, **known, actor=actor(), at=at, prepared=prepared)
    if form.refused:
        return _confirmation(form, foreseen), form.status
    flash(gettext("Deleted. It can be restored for %(days)d days.", days=settings().deletion_days))
    if kind is DeletedKind.COLLECTION:
        return redirect(url_for("collection.list_all"), 303)
    return redirect(url_for(".show", slug=slug), 303)


@blueprint.post("/collections/<slug>/deletions/<row:number>/restore")
@collection_page(Role.ORGANISER)
def restore(slug: str, number: int) -> ResponseReturnValue:
    """Restore a deletion."""
    form = DeletionForm(formdata=None)
    with form.guard():
        read = database().read(restoring.read_deletion, slug, number)
        with database().transaction() as session:
            kind = restoring.restore_deletion(session, slug, number, read=read, at=now())
            note(session, "deletions.restore", slug, subject=number, details={"kind": kind.value})
    if form.refused:
        return _page(slug, form), form.status
    return done(gettext("Restored."), ".show", slug=slug)


@blueprint.post("/deleted-collections/<slug>/restore")
@signed_in_page
def restore_collection(slug: str) -> ResponseReturnValue:
    """Restore a deleted collection, for its organisers and for administrators."""
    person = the_person()
    with database().transaction() as session:
        restoring.restore_collection(session, slug, at=now(), organised_by=None if person.administrator else person.id)
        note(session, "collections.restore", slug)
    return done(gettext("Restored."), "collection.show", slug=slug)


def _confirmation(form: DeletionForm, foreseen: Foreseen) -> str:
    return render_template(
        "collections/deletions/confirm.html", form=form, foreseen=foreseen, kinds=KINDS, counts=COUNTS
    )


def _page(slug: str, form: DeletionForm) -> str:
    days = settings().deletion_days
    with database().reading() as session:
        deleted = restoring.list_deletions(session, slug, days=days)
        imports = restoring.list_label_imports(session, slug)
        versions = pools.pool_versions(session, slug)
    return render_template(
        "collections/deletions/show.html",
        form=form,
        deleted=deleted,
        imports=imports,
        version=versions[-1].version if versions else None,
        kinds=KINDS,
        counts=COUNTS,
        days=days,
    )
