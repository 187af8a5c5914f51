"""Registration of teams: organisers open it, and anybody who reaches the site may then join for a new team."""

from flask import Blueprint, flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from wtforms import IntegerField, StringField
from wtforms.validators import InputRequired, NumberRange

from annotator.moments import write_moment
from annotator.passwords import hash_password
from annotator.storage import Role
from annotator.web.people.accept_invitation import NewAccountForm
from annotator.web.people.throttle import against_many_accounts
from annotator.web.site.access import collection_page, enter, signed_in_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, the_person
from annotator.web.site.forms import Form, done
from annotator.web.site.language import gettext, lazy_gettext
from annotator.workflows.people import registration
from annotator.workflows.people.registration import GREATEST_MOST_TEAMS, RegistrationChange
from annotator.workflows.runs.submissions import read_end

blueprint = Blueprint("registration", __name__)

TEAM = {"autocomplete": "organization"}


class RegistrationForm(Form):
    """Until when teams may register, and how many."""

    until = StringField(
        lazy_gettext("Registration is open until"),
        [InputRequired()],
        description=lazy_gettext(
            "Such as “2026-05-01 23:59”, in UTC, or followed by another time zone: “AoE”, “+09:00” or “Asia/Seoul”."
        ),
        render_kw={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"},
    )
    most_teams = IntegerField(
        lazy_gettext("Maximum number of teams"),
        [InputRequired(), NumberRange(1, GREATEST_MOST_TEAMS)],
        description=lazy_gettext("All teams of the collection count, also those that were invited."),
        render_kw={"min": 1, "max": GREATEST_MOST_TEAMS},
    )


class TeamForm(Form):
    """The name of a new team."""

    team = StringField(
        lazy_gettext("Team"),
        [InputRequired()],
        description=lazy_gettext("The organisers see this name, and so does everybody if it is published."),
        render_kw=TEAM,
    )


class NewAccountAndTeamForm(NewAccountForm):
    """A new team, and a new account for its first member."""

    team = TeamForm.team


@blueprint.get("/collections/<slug>/registration")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """Whether teams may register, and the address for them."""
    return _page(slug)


@blueprint.post("/collections/<slug>/registration")
@collection_page(Role.ORGANISER)
def change(slug: str) -> ResponseReturnValue:
    """Let teams register until a moment."""
    form = RegistrationForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            change = RegistrationChange(read_end(form.until.data), form.most_teams.data)
            present = registration.open_registration(session, slug, change, at=now())
            note(session, "registration.open", slug, details={"until": present.until, "teams": present.most_teams})
    if form.refused:
        return _page(slug, form), form.status
    return done(gettext("Teams can register now."), ".show", slug=slug)


@blueprint.post("/collections/<slug>/registration/close")
@collection_page(Role.ORGANISER)
def close(slug: str) -> ResponseReturnValue:
    """Let no further team register."""
    with database().transaction() as session:
        registration.close_registration(session, slug)
        note(session, "registration.close", slug)
    return done(gettext("No further team can register."), ".show", slug=slug)


@blueprint.get("/tasks/<slug>/registration")
def begin(slug: str) -> ResponseReturnValue:
    """The form for a new team; for everybody, while registration is open."""
    return _public_page(slug)


@blueprint.post("/tasks/<slug>/registration")
@signed_in_page
def register(slug: str) -> ResponseReturnValue:
    """Register a team for the signed-in account."""
    form = TeamForm()
    if form.validate():
        with form.guard():
            with database().transaction() as session:
                registration.register(session, slug, form.team.data, the_person().id, at=now())
                note(session, "registration.add", slug, subject=the_person().name, details={"team": form.team.data})
            return _registered(slug, form.team.data)
    return _public_page(slug, team=form), form.status


@blueprint.post("/tasks/<slug>/registration/account")
@against_many_accounts
def register_with_account(slug: str) -> ResponseReturnValue:
    """Create an account, register its team, and start a session."""
    form = NewAccountAndTeamForm()
    database().read(registration.find_open_registration, slug, now=now())  # before anything slow is done
    if form.validate():
        with form.guard():
            new_hash = hash_password(form.password.data, [form.name.data, form.team.data])
            with database().transaction() as session:
                person = registration.register_with_new_account(
                    session, slug, form.team.data, form.name.data, new_hash, at=now()
                )
                note(session, "registration.add", slug, subject=person.name, details={"team": form.team.data})
            enter(person)
            return _registered(slug, form.team.data)
    return _public_page(slug, account=form), form.status


def _registered(slug: str, team: str) -> ResponseReturnValue:
    flash(gettext("Your team %(team)s takes part. Welcome!", team=team))
    return redirect(url_for("collection.show", slug=slug), 303)


def _page(slug: str, form: RegistrationForm | None = None) -> str:
    present = database().read(registration.show_registration, slug, now=now())
    return render_template(
        "people/registration/show.html",
        present=present,
        address=url_for(".begin", slug=slug, _external=True),
        form=form
        or RegistrationForm(
            formdata=None,
            until=write_moment(present.until) if present.until else "",
            most_teams=present.most_teams,
        ),
    )


def _public_page(slug: str, team: TeamForm | None = None, account: NewAccountAndTeamForm | None = None) -> str:
    return render_template(
        "people/registration/begin.html",
        task=database().read(registration.find_open_registration, slug, now=now()),
        team=team or TeamForm(formdata=None),
        account=account or NewAccountAndTeamForm(formdata=None),
    )
