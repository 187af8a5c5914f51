"""Invitations: single-use links to an account, a role, or a new password."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import select
from sqlalchemy.orm import Session, aliased

from annotator.errors import ConflictError, InvalidValueError, NotAllowedError, NotFoundError
from annotator.evaluation.formats.identifiers import check_free_text
from annotator.mail_values import checked_mail_address
from annotator.passwords import new_secret, secret_fingerprint
from annotator.storage import Collection, Invitation, Mail, MailKind, Membership, Role, User
from annotator.storage.collections.collection import find_collection, lock_collection
from annotator.storage.people.accounts import (
    Person,
    find_membership,
    find_or_add_team,
    give_role,
    joined_by_link,
    lock_user,
    locked_user,
    new_user,
    person_of,
    replace_password,
    revoke_all,
    withdraw_password_links,
)
from annotator.storage.site.mail import Letter, Recipient, delete_mail_of, queue_mail, queue_notice
from annotator.storage.site.transient_errors import stored_before_others
from annotator.storage.tables.mail import Notice
from annotator.workflows.people.identities import ProvenIdentity, link_identity
from annotator.workflows.site.mail import MailState, state_of

USUAL_DAYS = 14
MOST_DAYS = 90
# Links to a new password open an existing account; links to a first password may last longer.
DAYS_FOR_PASSWORD = 2
LONGEST_NOTE = 200
LANGUAGES = ("en", "ko")  # of e-mails
JOIN = "/join"  # the page of a link


class InvitationState(StrEnum):
    """The state of a link."""

    OPEN = "open"
    USED = "used"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"


@dataclass(frozen=True)
class InvitationRequest:
    """The invitee and their role; without a role the link gives an account only.

    With an e-mail address the link is sent there, too, in this language.
    """

    role: Role | None = None
    team: str | None = None
    note: str = ""
    days: int = USUAL_DAYS
    email: str = ""
    language: str = LANGUAGES[0]


@dataclass(frozen=True)
class InvitationRow:
    """A link in lists, without the secret; `account` is the one that gets a new password.

    `mail` is what became of the e-mail with it, None without one, and `problem` why it was not sent.
    """

    id: int
    note: str
    role: Role | None
    team: str | None
    account: str | None
    made_by: str | None
    made_at: datetime
    expires_at: datetime
    used_by: str | None
    used_at: datetime | None
    state: InvitationState
    mail: MailState | None = None
    problem: str = ""


@dataclass(frozen=True)
class OpenInvitation:
    """What a link offers when opened; with `account`, a new password for that account, or its first one."""

    slug: str | None
    title: str | None
    role: Role | None
    team: str | None
    account: str | None
    is_first: bool = False


@dataclass(frozen=True)
class MadeInvitation:
    """The secret of a new link, and its number in lists."""

    secret: str
    number: int


@dataclass(frozen=True)
class MadeLink:
    """A new link with its secret, which is not stored."""

    link: Invitation
    secret: str


def invite(
    session: Session, slug: str | None, wanted: InvitationRequest, *, made_by_id: int | None, at: datetime
) -> MadeInvitation:
    """Create a link to a role in the collection and return its secret, which is not stored.

    Without a slug it gives an account without a role. Raises `InvalidValueError` for a role or an e-mail address that
    does not fit.
    """
    if not 1 <= wanted.days <= MOST_DAYS:
        raise InvalidValueError("The number of days is between 1 and %(most)d.", most=MOST_DAYS)
    check_free_text(wanted.note, LONGEST_NOTE)
    if (wanted.role == Role.PARTICIPANT) != bool(wanted.team):
        raise InvalidValueError("A participant belongs to a team, and only a participant does.")
    collection = None if slug is None else lock_collection(session, slug)
    if collection is not None and wanted.team:
        find_or_add_team(session, collection.id, wanted.team)
    secret = new_secret()
    invitation = Invitation(
        fingerprint=secret_fingerprint(secret),
        note=wanted.note.strip(),
        collection_id=collection.id if collection else None,
        role=wanted.role,
        team=wanted.team,
        made_by_id=made_by_id,
        made_at=at,
        expires_at=at + timedelta(days=wanted.days),
    )
    session.add(invitation)
    session.flush()
    if wanted.email:
        to = Recipient(checked_mail_address(wanted.email), wanted.language)
        content = {"title": collection.title if collection else None, "role": wanted.role}
        send_link(session, to, MailKind.INVITATION, content, MadeLink(invitation, secret))
    return MadeInvitation(secret, invitation.id)


def invite_to_password(session: Session, slug: str | None, name: str, *, made_by_id: int | None, at: datetime) -> str:
    """Create a link to a new password for an account and return its secret; earlier ones for it end.

    An organiser may do so for members who joined by the collection's own link and have no other roles, since the link
    gives full access to the account. Raises `NotAllowedError` for other accounts; an administrator, without slug, may
    create links for these.
    """
    user = locked_user(session, name)
    collection_id = None
    if slug is not None:
        collection_id = find_collection(session, slug).id
        _refuse_unless_of_collection(session, collection_id, user)
    withdraw_password_links(session, user.id, at=at)
    secret = new_secret()
    session.add(
        Invitation(
            fingerprint=secret_fingerprint(secret),
            note="",
            collection_id=collection_id,
            user_id=user.id,
            made_by_id=made_by_id,
            made_at=at,
            expires_at=at + timedelta(days=DAYS_FOR_PASSWORD),
        )
    )
    return secret


def send_link(session: Session, to: Recipient, kind: MailKind, content: Mapping[str, object], made: MadeLink) -> None:
    """Queue an e-mail with a link, which is not sent once the link is closed."""
    link = made.link
    written = {**content, "path": f"{JOIN}?key={made.secret}", "until": link.expires_at.isoformat()}
    queue_mail(session, to, Letter(kind, written, link.expires_at, link.id), at=link.made_at)


def list_invitations(session: Session, slug: str | None, *, now: datetime) -> Sequence[InvitationRow]:
    """The links of a collection, or those without a collection; newest first."""
    account, maker, taker = aliased(User), aliased(User), aliased(User)
    place = None if slug is None else find_collection(session, slug).id
    rows = session.execute(
        select(Invitation, account, maker.name, taker.name, Mail)
        .outerjoin(account, account.id == Invitation.user_id)
        .outerjoin(maker, maker.id == Invitation.made_by_id)
        .outerjoin(taker, taker.id == Invitation.used_by_id)
        .outerjoin(Mail, Mail.invitation_id == Invitation.id)
        .where(Invitation.collection_id.is_(None) if place is None else Invitation.collection_id == place)
        .order_by(Invitation.id.desc())
    )
    return [
        InvitationRow(
            link.id,
            link.note,
            Role(link.role) if link.role else None,
            link.team,
            of_account.name if of_account else None,
            made_by,
            link.made_at,
            _expires_at(link, of_account),
            used_by,
            link.used_at,
            _state(link, of_account, now),
            state_of(mail) if mail else None,
            mail.problem if mail else "",
        )
        for link, of_account, made_by, used_by, mail in rows
    ]


def withdraw_invitation(session: Session, slug: str | None, number: int, *, at: datetime) -> None:
    """Revoke a link of the collection; one that was used or has expired is left unchanged.

    Raises `NotFoundError` for an unknown number.
    """
    place = None if slug is None else find_collection(session, slug).id
    link = session.get(Invitation, number)
    if link is None or link.collection_id != place:
        raise NotFoundError("There is no invitation %(number)d.", number=number)
    if link.used_at is None:
        link.withdrawn_at = link.withdrawn_at or at


def open_invitation(session: Session, secret: str, *, now: datetime) -> OpenInvitation:
    """What the link offers; `NotFoundError` if its secret is unknown, or it was used, withdrawn or has expired."""
    link = _open_link(session, secret, now, locks=False)
    collection = session.get(Collection, link.collection_id) if link.collection_id else None
    account = session.get(User, link.user_id) if link.user_id else None
    return OpenInvitation(
        collection.slug if collection else None,
        collection.title if collection else None,
        Role(link.role) if link.role else None,
        link.team,
        account.name if account else None,
        is_first=account is not None and account.password_hash is None,
    )


def accept_with_new_account(
    session: Session,
    secret: str,
    name: str,
    password_hash: str,
    *,
    identity: ProvenIdentity | None = None,
    at: datetime,
) -> Person:
    """Create an account of that name with the role of the link, and mark the link as used.

    With an `identity`, its owner also signs in at their provider. Raises as `open_invitation`, `new_user` and
    `link_identity`, and `ConflictError` when the name is taken concurrently.
    """
    link = _open_link(session, secret, at)
    _refuse_if_for_password(link)
    with stored_before_others(session):
        user = new_user(session, name, password_hash=password_hash, administrator=False, added_at=at)
        _take(session, link, user, at)
    if identity is not None:
        link_identity(session, user.id, identity, at=at)
    return person_of(user)


def accept_as(session: Session, secret: str, user_id: int, *, at: datetime) -> None:
    """Give an existing account the role of the link; `ConflictError` when it has that role already."""
    link = _open_link(session, secret, at)
    _refuse_if_for_password(link)
    if link.role is None:
        raise ConflictError("This invitation is to an account, and you have one.")
    with stored_before_others(session):
        _take(session, link, session.get_one(User, user_id), at)


def accept_password(session: Session, secret: str, new_hash: str, *, at: datetime) -> Person:
    """Set a new password for the link's account, and end its sessions, tokens and other password links.

    A link that the account did not ask for itself deletes its e-mail address: somebody who knew the earlier password
    may have given theirs.
    Raises `NotAllowedError` for an organiser's link when the account has since gained access beyond what the organiser
    may give.
    """
    link = _open_link(session, secret, at, locks=False)
    if link.user_id is None:
        raise NotFoundError("This link is not a password reset link.")
    user = lock_user(session, link.user_id)
    link = _open_link(session, secret, at)
    if link.collection_id is not None:
        _refuse_unless_of_collection(session, link.collection_id, user)
    _take(session, link, user, at)
    is_own = link.made_by_id == user.id
    queue_notice(session, user, Notice.PASSWORD_CHANGED if is_own else Notice.PASSWORD_BY_OTHERS, at=at)
    if not is_own:
        delete_mail_of(session, user.id)
    # Others that were asked for would set it once more.
    withdraw_password_links(session, user.id, at=at)
    replace_password(user, new_hash)
    revoke_all(session, user.id, at=at)
    return person_of(user)


def _open_link(session: Session, secret: str, now: datetime, *, locks: bool = True) -> Invitation:
    found = select(Invitation).where(Invitation.fingerprint == secret_fingerprint(secret))
    # On PostgreSQL the row lock serialises two concurrent uses.
    link = session.scalar(found.with_for_update().execution_options(populate_existing=True) if locks else found)
    account = session.get(User, link.user_id) if link is not None and link.user_id is not None else None
    if link is None or _state(link, account, now) is not InvitationState.OPEN:
        raise NotFoundError(
            "This link is not valid: it was used already, was withdrawn, or has expired. Ask the person "
            "who sent it for another."
        )
    return link


def _take(session: Session, link: Invitation, user: User, at: datetime) -> None:
    if link.collection_id is not None and link.role is not None:
        if link.role == Role.PARTICIPANT:
            _refuse_observer(session, link.collection_id, user)
        give_role(session, link.collection_id, user, Role(link.role), team=link.team, added_at=at)
    link.used_at, link.used_by_id = at, user.id


def _refuse_observer(session: Session, collection_id: int, user: User) -> None:
    """Refuse a participant who could read the scores of all runs before sending one; an organiser may add them."""
    if find_membership(session, collection_id, user.id, Role.OBSERVER) is not None:
        raise ConflictError(
            "“%(name)s” is an observer, who reads scores before their release: only an organiser can add them to a "
            "team, on the page of members.",
            name=user.name,
        )


def _refuse_unless_of_collection(session: Session, collection_id: int, user: User) -> None:
    """Refuse an organiser a password link if the account has other access, or did not join by invitation."""
    places = set(session.scalars(select(Membership.collection_id).where(Membership.user_id == user.id)))
    if collection_id not in places:
        raise NotFoundError("“%(name)s” is no member of this collection.", name=user.name)
    if user.administrator or places != {collection_id}:
        raise NotAllowedError(
            "“%(name)s” is an administrator or takes part in other collections, too: an administrator alone may give "
            "them a new password.",
            name=user.name,
        )
    if not joined_by_link(session, collection_id, user):
        raise NotAllowedError(
            "“%(name)s” did not join this collection by an invitation or a file of people: an administrator alone may "
            "give them a new password.",
            name=user.name,
        )


def _refuse_if_for_password(link: Invitation) -> None:
    if link.user_id is not None:
        raise NotFoundError("This link is not an invitation: it is a password reset link.")


def _expires_at(link: Invitation, account: User | None) -> datetime:
    """When a link expires; a password link expires sooner if the account has a password."""
    if account is None or account.password_hash is None:
        return link.expires_at
    return min(link.expires_at, link.made_at + timedelta(days=DAYS_FOR_PASSWORD))


def _state(link: Invitation, account: User | None, now: datetime) -> InvitationState:
    if link.used_at is not None:
        return InvitationState.USED
    if link.withdrawn_at is not None:
        return InvitationState.WITHDRAWN
    return InvitationState.OPEN if now < _expires_at(link, account) else InvitationState.EXPIRED
