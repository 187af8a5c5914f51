"""Rounds of runs: list them, close the open one, open the next."""

from flask import Blueprint, render_template, url_for
from flask.typing import ResponseReturnValue
from wtforms import StringField

from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, the_person
from annotator.web.site.downloads import CSV, download
from annotator.web.site.forms import Form, confirmation, done, is_confirmed
from annotator.web.site.language import format_number, gettext, lazy_gettext
from annotator.workflows.collections import rounds
from annotator.workflows.collections.rounds import LONGEST_NAME
from annotator.workflows.pools import pools
from annotator.workflows.qrels import qrels, qrels_versions

blueprint = Blueprint("rounds", __name__)


class RoundForm(Form):
    """The name of the next round."""

    name = StringField(
        lazy_gettext("Name"),
        description=lazy_gettext("May stay empty: rounds have numbers."),
        render_kw={"maxlength": LONGEST_NAME},
    )


@blueprint.get("/collections/<slug>/rounds")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """Every round, with the qrels version stored when it was closed."""
    return _page(slug, RoundForm(formdata=None))


@blueprint.post("/collections/<slug>/rounds/close")
@collection_page(Role.ORGANISER)
def close(slug: str) -> ResponseReturnValue:
    """Store the settled grades and close the open round, after confirmation."""
    form, at = RoundForm(), now()
    with form.guard():
        # Settling takes a while and must not block other writers.
        made = database().read(qrels.export_qrels, slug, to_keep=True, made_at=at)
        if made.grades and not is_confirmed():
            return _closing_page(slug, grades=len(made.grades))
        with qrels_versions.storing_grades(database(), slug, made) as stored, database().transaction() as session:
            closed = qrels_versions.close_round(session, slug, stored, by_id=the_person().id, at=at)
            note(session, "rounds.close", slug, subject=closed.number, details={"qrels": closed.version})
    if form.refused:
        return _page(slug, form), form.status
    return done(
        gettext(
            "Round %(number)d is closed; its grades are kept as version %(version)d of the qrels.",
            number=closed.number,
            version=closed.version,
        ),
        ".show",
        slug=slug,
    )


@blueprint.post("/collections/<slug>/rounds/open")
@collection_page(Role.ORGANISER)
def open_next(slug: str) -> ResponseReturnValue:
    """Open the next round."""
    form = RoundForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            number = rounds.open_round(session, slug, name=form.name.data or "", at=now())
            note(session, "rounds.open", slug, subject=number)
    if form.refused:
        return _page(slug, form), form.status
    return done(
        gettext("Round %(number)d is open: the runs that come from now on belong to it.", number=number),
        ".show",
        slug=slug,
    )


@blueprint.get("/collections/<slug>/rounds.csv")
@collection_page(Role.ORGANISER)
def as_csv(slug: str) -> ResponseReturnValue:
    """The rounds as CSV."""
    rows = database().read(rounds.list_rounds, slug)
    return download(rounds.rounds_csv(rows), f"{slug}-rounds.csv", CSV)


def _closing_page(slug: str, *, grades: int) -> str:
    with database().reading() as session:
        closing = rounds.round_to_close(session, slug)
        progress = pools.pool_progress(session, slug)
    return confirmation(
        gettext("Close round %(number)d?", number=closing.number),
        figures={
            gettext("Runs of the round"): format_number(closing.runs),
            gettext("Grades that are kept"): format_number(grades),
            gettext("Documents not fully judged"): format_number(sum(one.items - one.complete for one in progress)),
        },
        notes=[
            gettext("No runs are accepted until the next round is open, and a closed round cannot be opened again."),
            gettext("Judging goes on, but later judgements are not in the qrels kept for this round."),
        ],
        button=gettext("Close the round"),
        back=url_for(".show", slug=slug),
        destroys=True,
    )


def _page(slug: str, form: RoundForm) -> str:
    rows = database().read(rounds.list_rounds, slug)
    return render_template("collections/rounds/show.html", rows=rows, form=form)
