"""Who may see which page: signing in and out, and the guards that stand before the views."""

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

# The secret of the link by which somebody came, until they have taken what it offers.
INVITED = "invitation"


def install(app: Flask) -> None:
    """Find out who is signed in when a view or template asks."""
    app.extensions[FIND_PERSON] = _find_person


def enter(person: Person) -> None:
    """Begin a session for this person; nothing of an earlier session stays but a link that waits to be accepted."""
    invited = session.get(INVITED)
    session.clear()
    if invited is not None:
        session[INVITED] = invited
    begin(person.id, person.generation)
    g.person = person


def leave() -> None:
    """Forget the session in this browser."""
    session.clear()
    g.person = None


def signed_in_page(view: View) -> View:
    """A page for everybody who is signed in; guests are sent to sign in first."""

    @wraps(view)
    def guarded(**values: Any) -> ResponseReturnValue:  # noqa: ANN401 - whatever the address holds
        return to_sign_in() if current_person() is None else view(**values)

    return guarded


def administrator_page(view: View) -> View:
    """A page for administrators."""

    @wraps(view)
    def guarded(**values: Any) -> ResponseReturnValue:  # noqa: ANN401 - whatever the address holds
        person = current_person()
        if person is None:
            return to_sign_in()
        if not person.administrator:
            raise NotAllowedError("This page is for administrators.")
        return view(**values)

    return guarded


def collection_page(*roles: Role) -> Callable[[View], View]:
    """A page of a collection for members with one of these roles, or with any when none is named.

    Whoever is no member is told that there is no such collection. An administrator may what an organiser may.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(slug: str, **values: Any) -> ResponseReturnValue:  # noqa: ANN401 - whatever the address holds
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
    """Send a guest to sign in, and then back to the page they wanted or whose form they sent."""
    return redirect(url_for("accounts.sign_in", next=here()), 303)


def _find_person() -> Person | None:
    said = signed_in_as()
    if said is None:
        return None
    return database().read(accounts.load_person, *said)


def place_of(slug: str, person: Person) -> Place:
    """The collection as this person sees it; `NotFoundError` for who is no member, as if it did not exist."""
    with database().reading() as reading:
        standing = members.standing_of(reading, slug, person.id)
        shown = collection.show_collection(reading, slug)
    roles = standing.roles | {Role.ORGANISER} if person.administrator else standing.roles
    if not roles:
        # The words are those of a collection that does not exist.
        raise NotFoundError("There is no collection “%(slug)s”.", slug=slug)
    sees = submissions.scores_seen(shown.scores_released_at, shown.scores_shown, at=now())
    return Place(shown, roles, standing.team, sees)
