"""Documents with differing judgements, largest difference first, filtered by topic, judges and difference."""

from typing import Any
from uuid import uuid4

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import HiddenField, IntegerField, StringField
from wtforms.validators import InputRequired

from annotator.errors import AnnotatorError
from annotator.storage import Role
from annotator.storage.judging.leases import Decision
from annotator.web.site.access import collection_page
from annotator.web.site.context import database, now, the_person
from annotator.web.site.downloads import CSV, JSON, download
from annotator.web.site.error_pages import status_of
from annotator.web.site.forms import Form
from annotator.web.site.language import gettext, lazy_gettext
from annotator.web.site.query_string import number_or
from annotator.workflows.agreement import adjudication, disagreements
from annotator.workflows.agreement.deciding import decide_disagreement
from annotator.workflows.agreement.disagreements import ROWS_A_PAGE, DisagreementFilter
from annotator.workflows.people import members

blueprint = Blueprint("disagreements", __name__)

DIGITS = 6


class DecisionForm(Form):
    """A decision on the document of a card; a grade is the button that was pressed."""

    topic = HiddenField(validators=[InputRequired()])
    docno = HiddenField(validators=[InputRequired()])
    client_id = HiddenField(validators=[InputRequired()])
    grade = IntegerField(validators=[InputRequired()])
    note = StringField(lazy_gettext("Note"))


@blueprint.get("/collections/<slug>/disagreements")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """All of them, or by `?topic=1&topic=2`, `?judge=` and `?other=`, `?apart=2`, `?across=1`, `?undecided=1`."""
    return _page(slug)


def _page(slug: str, form: DecisionForm | None = None) -> ResponseReturnValue:
    wanted, refused = disagreements_wanted(), None
    with database().reading() as session:
        try:
            found = disagreements.page_of_disagreements(session, slug, wanted, number_or("page", 1, digits=DIGITS))
        except AnnotatorError as refusal:
            refused = refusal
            found = disagreements.page_of_disagreements(session, slug, DisagreementFilter())
    page = render_template(
        "agreement/disagreements.html",
        found=found,
        wanted=wanted,
        address=disagreements_address(wanted),
        refused=refused,
        decision_refused=form.refusal if form is not None else None,
        new_id=lambda: uuid4().hex,
        per_page=ROWS_A_PAGE,
    )
    if form is not None:
        return page, form.status
    return page if refused is None else (page, status_of(refused))


@blueprint.post("/collections/<slug>/disagreements")
@collection_page(Role.ORGANISER)
def decide(slug: str) -> ResponseReturnValue:
    """Store a decision as an adjudication by this organiser, and go on to the next document of the same filter."""
    form = DecisionForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            decide_disagreement(
                session,
                slug,
                form.topic.data,
                form.docno.data,
                the_person().id,
                Decision(form.grade.data, None, form.note.data or ""),
                client_id=form.client_id.data,
                decided_at=now(),
            )
    if form.refused:
        return _page(slug, form)
    flash(gettext("Decided: %(docno)s is %(grade)s.", docno=form.docno.data, grade=form.grade.data))
    wanted = disagreements_wanted()
    # Among the undecided ones, the next document takes the place of this one.
    place = number_or("place", 1, digits=DIGITS) + (not wanted.only_undecided)
    address = {**disagreements_address(wanted), "page": number_or("page", 1, digits=DIGITS)}
    return redirect(url_for(".show", slug=slug, **address, _anchor=f"card-{place}"), 303)


@blueprint.get("/collections/<slug>/disagreements.csv")
@collection_page(Role.ORGANISER)
def as_csv(slug: str) -> ResponseReturnValue:
    """The same documents as CSV, one line per document and person."""
    rows = database().read(disagreements.list_disagreements, slug, disagreements_wanted())
    return download(disagreements.disagreements_csv(rows), f"{slug}-disagreements.csv", CSV)


@blueprint.get("/collections/<slug>/disagreements.json")
@collection_page(Role.ORGANISER)
def as_json(slug: str) -> ResponseReturnValue:
    """The same documents as JSON, one object per document."""
    rows = database().read(disagreements.list_disagreements, slug, disagreements_wanted())
    return download(disagreements.disagreements_json(rows), f"{slug}-disagreements.json", JSON)


def disagreements_wanted() -> DisagreementFilter:
    """The filter in the query string; a judge given twice counts once, and malformed numbers are ignored."""
    judges = dict.fromkeys(request.args.get(name, "") for name in ("judge", "other"))
    return DisagreementFilter(
        topics=tuple(filter(None, request.args.getlist("topic"))),
        judges=tuple(judge for judge in judges if judge),
        least_distance=max(number_or("apart", 1, digits=DIGITS), 1),
        only_across="across" in request.args,
        only_undecided="undecided" in request.args,
    )


def disagreements_address(wanted: DisagreementFilter) -> dict[str, Any]:
    """The filter as query string arguments, without defaults."""
    asked = {
        "topic": wanted.topics or None,
        **dict(zip(("judge", "other"), wanted.judges, strict=False)),
        "apart": wanted.least_distance if wanted.least_distance > 1 else None,
        "across": wanted.only_across or None,
        "undecided": wanted.only_undecided or None,
    }
    return {name: 1 if value is True else value for name, value in asked.items() if value is not None}


@blueprint.get("/collections/<slug>/adjudication")
@collection_page(Role.ORGANISER)
def show_adjudication(slug: str) -> str:
    """Adjudication by topic and by judge."""
    with database().reading() as session:
        report = adjudication.show_adjudication(session, slug, now=now())
        roles = {member.role for member in members.list_members(session, slug)}
    return render_template(
        "agreement/adjudication/show.html", report=report, has_adjudicators=Role.ADJUDICATOR in roles
    )
