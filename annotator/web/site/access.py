"""Access to pages: starting and ending sessions, and the decorators that guard views."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from flask import Flask, g, redirect, request, session, url_for
from flask.typing import ResponseReturnValue

from annotator.errors import NotAllowedError, NotFoundError
from annotator.storage import Role
from annotator.storage.people.accounts import Person
from annotator.web.site.addresses import API, here
from annotator.web.site.context import FIND_PERSON, Place, current_person, database, now, settings
from annotator.web.site.json_answers import SIGNED_OUT, refusal, wants_json
from annotator.web.site.language import gettext
from annotator.web.site.sessions import begin, begin_half, signed_in_as
from annotator.workflows.collections import collection
from annotator.workflows.people import accounts, members, second_factor
from annotator.workflows.runs import submissions

View = Callable[..., ResponseReturnValue]

# Session key for the secret of an invitation link until it is accepted.
INVITED = "invitation"
# What opens without the second factor that is required: pages that turn it on or are for everybody, and the way out.
WITHOUT_SECOND_FACTOR = {
    "static",
    "health.alive",
    "health.ready",
    "language.choose",
    "accounts.sign_in",
    "accounts.try_to_sign_in",
    "accounts.sign_out",
    "joining.show",
    "public_pages.show_task",
    "public_pages.show_board",
    "provider.begin",
    "provider.finish",
    "sign_in_passkey.ask",
    "sign_in_passkey.sign_in",
}
TURNING_ON = {"second_factor", "passkeys"}  # the blueprints


def install(app: Flask) -> None:
    """Load the signed-in person when a view or template needs it."""
    app.extensions[FIND_PERSON] = _find_person
    app.before_request(require_second_factor)


def enter(person: Person) -> None:
    """Start a session for this person; of an earlier session only a pending invitation is kept."""
    invited = session.get(INVITED)
    session.clear()
    if invited is not None:
        session[INVITED] = invited
    begin(person.id, person.generation)
    g.person = person


def enter_half(person: Person) -> None:
    """Keep in the session whose password was accepted, and a pending invitation, and nothing else."""
    invited = session.get(INVITED)
    session.clear()
    if invited is not None:
        session[INVITED] = invited
    begin_half(person.id, person.generation)
    g.person = None


def leave() -> None:
    """End the session in this browser."""
    session.clear()
    g.person = None


def require_second_factor() -> ResponseReturnValue | None:
    """Lead organisers and administrators who lack the second factor that the site requires to the page for it.

    A form that they send is refused and not redirected, so that the browser keeps what they wrote; the judging screen
    hears that they are signed out, and keeps their judgements. The API takes tokens, not cookies.
    """
    if not settings().require_second_factor or request.endpoint in WITHOUT_SECOND_FACTOR:
        return None
    if request.path.startswith(API):
        return None
    person = None if request.blueprint in TURNING_ON else current_person()
    if person is None or not database().read(second_factor.is_missing, person.id):
        return None
    if wants_json():
        return refusal(SIGNED_OUT, gettext("Turn on a second factor first, on the page of your account."))
    if request.method not in {"GET", "HEAD"}:
        raise NotAllowedError(
            "Nothing was stored: this site requires a second factor of organisers. Open any page of the site in "
            "another tab, turn it on there, come back, and send this form again."
        )
    return redirect(url_for("second_factor.show", next=here()), 303)


def signed_in_page(view: View) -> View:
    """Restrict a view to signed-in people; guests are redirected to sign in first."""

    @wraps(view)
    def guarded(**values: Any) -> ResponseReturnValue:  # noqa: ANN401 - path parameters
        return to_sign_in() if current_person() is None else view(**values)

    return guarded


def administrator_page(view: View) -> View:
    """Restrict a view to administrators."""

    @wraps(view)
    def guarded(**values: Any) -> ResponseReturnValue:  # noqa: ANN401 - path parameters
        person = current_person()
        if person is None:
            return to_sign_in()
        if not person.administrator:
            raise NotAllowedError("This page is for administrators.")
        return view(**values)

    return guarded


def collection_page(*roles: Role) -> Callable[[View], View]:
    """Restrict a collection's view to members with one of these roles, or to all members without roles.

    Non-members get “not found”. An administrator may do what an organiser may.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(slug: str, **values: Any) -> ResponseReturnValue:  # noqa: ANN401 - path parameters
            person = current_person()
            if person is None:
                return to_sign_in()
            g.place = place_of(slug, person)
            if roles and not g.place.roles & set(roles):
                raise NotAllowedError(
                    "Your role in this collection does not include this page. An organiser of the collection can "
                    "change your role."
                )
            return view(slug, **values)

        return guarded

    return decorate


def to_sign_in() -> ResponseReturnValue:
    """Redirect a guest to sign in, and then back to the requested page or the page of the submitted form."""
    return redirect(url_for("accounts.sign_in", next=here()), 303)


def _find_person() -> Person | None:
    said = signed_in_as()
    if said is None:
        return None
    return database().read(accounts.load_person, *said)


def place_of(slug: str, person: Person) -> Place:
    """The collection as this person sees it; `NotFoundError` for non-members, as if it did not exist."""
    with database().reading() as reading:
        standing = members.standing_of(reading, slug, person.id)
        shown = collection.show_collection(reading, slug)
    roles = standing.roles | {Role.ORGANISER} if person.administrator else standing.roles
    if not roles:
        # The same message as for a collection that does not exist.
        raise NotFoundError("There is no collection “%(slug)s”.", slug=slug)
    sees = submissions.scores_seen(shown.scores_released_at, shown.scores_shown, at=now())
    return Place(shown, roles, standing.team, sees)
