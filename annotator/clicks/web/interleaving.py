"""Lists interleaved of runs of the collection, as a file for an online experiment."""

from functools import partial

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue
from wtforms import RadioField, SelectChoice
from wtforms.validators import InputRequired, NumberRange

from annotator.clicks.workflows.interleaving import (
    BALANCED_BIAS,
    MOST_DEPTH,
    MOST_LISTS,
    USUAL_DEPTH,
    USUAL_LISTS,
    USUAL_LISTS_SEED,
    ListsWanted,
    Method,
    interleave_stored,
)
from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note_export
from annotator.web.site.background import JOB_KIND, MOST_LISTS_AT_ONCE, leave_form, work
from annotator.web.site.context import database
from annotator.web.site.downloads import download
from annotator.web.site.forms import Form, WholeNumberField
from annotator.web.site.language import lazy_gettext
from annotator.workflows.runs import runs
from annotator.workflows.site import jobs

blueprint = Blueprint("interleaving", __name__)

TSV = "text/tab-separated-values"
GREATEST_SEED = 2**31 - 1


class InterleavingForm(Form):
    """How lists are made; the runs are ticked in the table."""

    method = RadioField(
        lazy_gettext("Method"),
        default=Method.TEAM_DRAFT.value,
        choices=[
            SelectChoice(Method.TEAM_DRAFT.value, lazy_gettext("Team draft: in each round every run picks once")),
            SelectChoice(Method.BALANCED.value, lazy_gettext("Balanced: two runs only, and biased")),
        ],
    )
    depth = WholeNumberField(
        lazy_gettext("Documents per list"),
        [InputRequired(), NumberRange(1, MOST_DEPTH)],
        default=USUAL_DEPTH,
        render_kw={"min": 1, "max": MOST_DEPTH},
    )
    lists = WholeNumberField(
        lazy_gettext("Lists per topic"),
        [InputRequired(), NumberRange(1, MOST_LISTS)],
        default=USUAL_LISTS,
        description=lazy_gettext(
            "Show each user one of them at random. With a multiple of the number of runs, each run picks first equally "
            "often."
        ),
        render_kw={"min": 1, "max": MOST_LISTS},
    )
    seed = WholeNumberField(
        lazy_gettext("Seed"),
        [InputRequired(), NumberRange(0, GREATEST_SEED)],
        default=USUAL_LISTS_SEED,
        description=lazy_gettext("The same runs, options and seed give the same file."),
        render_kw={"min": 0, "max": GREATEST_SEED},
    )


@blueprint.get("/collections/<slug>/interleaving")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """The runs to choose from, and the options."""
    return _page(slug, InterleavingForm(formdata=None))


@blueprint.post("/collections/<slug>/interleaving")
@collection_page(Role.ORGANISER)
def make(slug: str) -> ResponseReturnValue:
    """The file of lists; of many topics, the worker makes it."""
    form = InterleavingForm()
    if form.validate():
        if work() is None and database().read(jobs.count_ranked_lists, slug) > MOST_LISTS_AT_ONCE:
            return leave_form(slug)
        wanted = ListsWanted(form.method.data, form.depth.data, form.lists.data, form.seed.data)
        tags = request.form.getlist("run")
        with form.guard():
            made = database().read(partial(interleave_stored, tags=tags, wanted=wanted), slug)
    if form.refused:
        return _page(slug, form), form.status
    note_export("interleaving.export", slug, details=vars(wanted))
    return download(made.content, f"{slug}-interleaved.tsv", TSV)


setattr(make, JOB_KIND, "interleaving.make")


def _page(slug: str, form: InterleavingForm) -> str:
    return render_template(
        "clicks/interleaving.html",
        form=form,
        runs=database().read(runs.list_runs, slug),
        chosen=set(request.form.getlist("run")),
        bias=BALANCED_BIAS,
    )
