"""A participant's team: its members, and links by which they invite others to it."""

from flask import Blueprint, flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue

from annotator.storage import Role
from annotator.web.people.invitations import AccountInvitationForm, WithdrawalForm
from annotator.web.people.links import link_to
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, the_person
from annotator.web.site.language import gettext
from annotator.workflows.people import own_team
from annotator.workflows.people.invitations import InvitationRequest

blueprint = Blueprint("own_team", __name__)


@blueprint.get("/collections/<slug>/team")
@collection_page(Role.PARTICIPANT)
def show(slug: str) -> ResponseReturnValue:
    """The members of the team, and their links."""
    return _page(slug)


@blueprint.post("/collections/<slug>/team")
@collection_page(Role.PARTICIPANT)
def invite(slug: str) -> ResponseReturnValue:
    """Create a link to the team and show it, only once."""
    form, link = AccountInvitationForm(), None
    if form.validate():
        wanted = InvitationRequest(note=form.note.data or "", days=form.days.data)
        with form.guard():
            with database().transaction() as session:
                made = own_team.invite_to_team(session, slug, the_person().id, wanted, at=now())
                # The note may contain a name, which the audit log would keep permanently.
                note(session, "invitations.add", slug, subject=made.number, details={"role": Role.PARTICIPANT})
            link = link_to(made.secret)
    if link is None:
        return _page(slug, form), form.status
    return _page(slug, link=link)


@blueprint.post("/collections/<slug>/team/withdraw")
@collection_page(Role.PARTICIPANT)
def withdraw(slug: str) -> ResponseReturnValue:
    """Withdraw a link to the team."""
    form = WithdrawalForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            own_team.withdraw_team_link(session, slug, the_person().id, form.number.data, at=now())
            note(session, "invitations.withdraw", slug, subject=form.number.data)
    if form.refused:
        blank = AccountInvitationForm(formdata=None)
        blank.refusal = form.refusal
        return _page(slug, blank), form.status
    flash(gettext("The link is not valid any more."))
    return redirect(url_for(".show", slug=slug), 303)


def _page(slug: str, form: AccountInvitationForm | None = None, link: str | None = None) -> str:
    return render_template(
        "people/own_team.html",
        team=database().read(own_team.show_team, slug, the_person().id, now=now()),
        link=link,
        form=form or AccountInvitationForm(formdata=None),
    )
