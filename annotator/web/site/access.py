"""Access to pages: starting and ending sessions, and the decorators that guard views."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from flask import Flask, g, redirect, session, url_for
from flask.typing import ResponseReturnValue

from annotator.errors import NotAllowedError, NotFoundError
from annotator.storage import Role
from annotator.storage.people.accounts import Person
from annotator.web.site.addresses import here
from annotator.web.site.context import FIND_PERSON, Place, current_person, database, now
from annotator.web.site.sessions import begin, signed_in_as
from annotator.workflows.collections import collection
from annotator.workflows.people import accounts, members
from annotator.workflows.runs import submissions

View = Callable[..., ResponseReturnValue]

# Session key for the secret of an invitation link until it is accepted.
INVITED = "invitation"


def install(app: Flask) -> None:
    """Load the signed-in person when a view or template needs it."""
    app.extensions[FIND_PERSON] = _find_person


def enter(person: Person) -> None:
    """Start a session for this person; of an earlier session only a pending invitation is kept."""
    invited = session.get(INVITED)
    session.clear()
    if invited is not None:
        session[INVITED] = invited
    begin(person.id, person.generation)
    g.person = person


def leave() -> None:
    """End the session in this browser."""
    session.clear()
    g.person = None


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
