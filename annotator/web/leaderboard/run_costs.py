"""What one run costs, as its team or an organiser states it."""

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from annotator.storage import Role
from annotator.web.people.senders import own_team, sender_state
from annotator.web.runs.cost_forms import CostsForm, costs_form, filled_form
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, the_person
from annotator.web.site.language import gettext
from annotator.workflows.leaderboard import costs
from annotator.workflows.leaderboard.costs import RunCosts
from annotator.workflows.runs import submissions

blueprint = Blueprint("run_costs", __name__)


@blueprint.get("/collections/<slug>/runs/costs")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
def show(slug: str) -> ResponseReturnValue:
    """What is stated of a run (`?tag=`), as a form."""
    stated = _stated(slug)
    return _page(slug, stated, filled_form(stated))


@blueprint.post("/collections/<slug>/runs/costs")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
def state(slug: str) -> ResponseReturnValue:
    """Let what was entered stand, instead of all that was stated before."""
    stated = _stated(slug)
    form = costs_form(stated.facts)
    at = now()
    if form.validate():
        with form.guard(), database().transaction() as session:
            submissions.check_may_change(session, slug, the_person().id, team=own_team(), at=at)
            costs.replace_costs(session, slug, _tag(), form.statements, at=at, team=own_team())
            stated_now = sorted(one.address for one in form.statements)
            note(session, "costs.set", slug, subject=_tag(), details={"facts": stated_now})
    if form.refused:
        return _page(slug, stated, form), form.status
    flash(gettext("Costs of the system saved."))
    return redirect(url_for("run.show", slug=slug, tag=_tag()), 303)


def _tag() -> str:
    return request.args.get("tag", "")


def _stated(slug: str) -> RunCosts:
    with database().reading() as session:
        return costs.costs_of_run(session, slug, _tag(), team=own_team())


def _page(slug: str, stated: RunCosts, form: CostsForm) -> str:
    return render_template("leaderboard/costs/run.html", stated=stated, form=form, sending=sender_state(slug))
