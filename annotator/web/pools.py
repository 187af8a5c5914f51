"""The pool: build it, watch it being judged."""

from flask import Blueprint, flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from wtforms import IntegerField, SelectMultipleField
from wtforms.validators import InputRequired, Optional

from annotator.storage import Role
from annotator.web.access import collection_page
from annotator.web.context import database, now, the_person
from annotator.web.forms import Form
from annotator.web.language import gettext, lazy_gettext
from annotator.workflows import pools, runs
from annotator.workflows.pools import PoolSummary

blueprint = Blueprint("pools", __name__)

USUAL_DEPTH = 10


class PoolForm(Form):
    """What to pool."""

    depth = IntegerField(
        lazy_gettext("Depth"),
        [InputRequired()],
        description=lazy_gettext("So many documents from the top of each ranked list."),
    )
    seed = IntegerField(
        lazy_gettext("Seed"),
        [Optional()],
        description=lazy_gettext(
            "Of the order in which documents are shown; empty keeps the one of the version before."
        ),
    )
    # Whether a tag exists is for the workflow to say: it may have come or gone since the page was made.
    runs = SelectMultipleField(lazy_gettext("Runs"), validate_choice=False)


@blueprint.get("/collections/<slug>/pool")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """The versions of the pool and how far each topic is judged."""
    return _page(slug, PoolForm(depth=USUAL_DEPTH))


@blueprint.post("/collections/<slug>/pool")
@collection_page(Role.ORGANISER)
def build(slug: str) -> ResponseReturnValue:
    """Build the pool, or let it grow; no run chosen means all of them."""
    form = PoolForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            summary = pools.build_pool(
                session,
                slug,
                depth=form.depth.data,
                tags=form.runs.data or None,
                seed=form.seed.data,
                built_by_id=the_person().id,
                built_at=now(),
            )
    if form.refused:
        return _page(slug, form), form.status
    flash(_outcome(summary))
    return redirect(url_for(".show", slug=slug), 303)


def _page(slug: str, form: PoolForm) -> str:
    with database().reading() as session:
        progress = pools.pool_progress(session, slug)
        versions = pools.pool_versions(session, slug)
        rows = runs.list_runs(session, slug)
    return render_template("pools/show.html", form=form, progress=progress, versions=versions, runs=rows)


def _outcome(summary: PoolSummary) -> str:
    return gettext(
        "Added to the pool: %(added)d. In it already: %(already)d. Version %(version)d is in force.",
        added=summary.added,
        already=summary.already_pooled,
        version=summary.version,
    )
