"""Erasure of a person: the account is anonymised, and their judgements are kept under a pseudonym."""

from collections.abc import Sequence
from itertools import chain, count

from sqlalchemy import Select, delete, select, tuple_, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.evaluation.formats.pseudonyms import names_somebody, policy_without_names, without_names
from annotator.evaluation.runs.questionnaires import AnswerKind
from annotator.storage import (
    ApiToken,
    Assignment,
    AuditEvent,
    Collection,
    Identity,
    Invitation,
    Job,
    Membership,
    PoolItem,
    QrelsVersion,
    Role,
    Team,
    Topic,
    User,
    UserKind,
)
from annotator.storage.collections.audit import Subject, actions_of
from annotator.storage.judging.leases import give_back
from annotator.storage.people.accounts import end_sessions, find_user, locked_user, refuse_without_organiser
from annotator.storage.people.second_factors import delete_factors
from annotator.storage.runs.questionnaires import delete_answers_of
from annotator.storage.site.mail import delete_mail_of
from annotator.storage.tables.people import FORGOTTEN


def forget_user(session: Session, name: str) -> str:
    """Delete a person's data, and return the pseudonym under which their judgements are kept.

    The account can no longer sign in and has no roles; its leases are returned. The text of the person's notes and
    questions is kept. Raises `NotFoundError` for an unknown name, and `ConflictError` for a machine, an erased person,
    and the last organiser of a collection.
    """
    organised = _organised(session, find_user(session, name).id)
    user = locked_user(session, name)
    if user.kind == UserKind.MACHINE:
        raise ConflictError("“%(name)s” is a machine: there is nothing to erase.", name=name)
    # Before pseudonyms were reserved, a user may have chosen one.
    if name.startswith(FORGOTTEN) and user.password_hash is None:
        raise ConflictError("The account “%(name)s” has already been erased.", name=name)
    for collection in organised:
        refuse_without_organiser(session, collection.id, collection.slug, user)
    other = _free_name(session, user)
    _take_everything_back(session, user.id)
    _rename_elsewhere(session, user, other)
    user.name, user.name_key, user.password_hash, user.administrator = other, other, None, False
    end_sessions(user)
    return other


def _organised(session: Session, user_id: int) -> Sequence[Collection]:
    """The collections the user organises, locked, so that two organisers who leave at once are serialised."""
    organised = select(Membership.collection_id).where(Membership.user_id == user_id, Membership.role == Role.ORGANISER)
    locked = select(Collection).where(Collection.id.in_(organised)).order_by(Collection.id)
    return session.scalars(locked.with_for_update(key_share=True)).all()


def _take_everything_back(session: Session, user_id: int) -> None:
    """Delete roles, what opens the site to them, topic ownership, pending jobs, results of jobs, and addresses."""
    places = _places(user_id)
    # Reports and their addresses name a collection's judges; they can be requested again.
    session.execute(delete(Job).where(Job.collection_id.in_(places), Job.finished_at.is_not(None)))
    give_back(session, Assignment.judge_id == user_id)
    _delete_links_to_their_teams(session, user_id)
    session.execute(delete(Membership).where(Membership.user_id == user_id))
    session.execute(delete(ApiToken).where(ApiToken.user_id == user_id))
    session.execute(delete(Identity).where(Identity.user_id == user_id))
    delete_factors(session, user_id)
    delete_mail_of(session, user_id, also_to_address=True)
    session.execute(delete(Job).where(Job.asked_by_id == user_id))
    session.execute(delete(Invitation).where((Invitation.user_id == user_id) | (Invitation.used_by_id == user_id)))
    session.execute(update(Topic).where(Topic.owner_id == user_id).values(owner_id=None))
    delete_answers_of(session, user_id, kind=AnswerKind.EMAIL)


def _delete_links_to_their_teams(session: Session, user_id: int) -> None:
    """Delete the unused links by which they invited others to a team of theirs, while they are still in it."""
    teams = select(Team.collection_id, Team.name).join(Membership, Membership.team_id == Team.id)
    to_teams = tuple_(Invitation.collection_id, Invitation.team).in_(teams.where(Membership.user_id == user_id))
    unused = (Invitation.made_by_id == user_id) & Invitation.used_at.is_(None)
    session.execute(delete(Invitation).where(unused, to_teams))


def _free_name(session: Session, user: User) -> str:
    """A pseudonym that is not in use."""
    names = (f"{FORGOTTEN}{user.id}{further}" for further in chain([""], (f"-{number}" for number in count(2))))
    others = User.id != user.id
    return next(name for name in names if session.scalar(select(User.id).where(others, User.name_key == name)) is None)


def _places(user_id: int) -> Select[tuple[int]]:
    """The collections in which the user has a role, or holds or judged a document."""
    judged = (
        select(Topic.collection_id)
        .join(PoolItem, PoolItem.topic_id == Topic.id)
        .join(Assignment, Assignment.pool_item_id == PoolItem.id)
        .where(Assignment.judge_id == user_id)
    )
    placed = select(Membership.collection_id).where(Membership.user_id == user_id)
    return select(placed.union(judged).subquery().c.collection_id)


def _rename_elsewhere(session: Session, user: User, other: str) -> None:
    """Replace the name where it is stored as text: in the audit log, policies and manifests of kept qrels."""
    names = {user.name: other}
    by_them = AuditEvent.user_id == user.id
    session.execute(update(AuditEvent).where(by_them).values(name=other))
    named = AuditEvent.action.in_(actions_of(Subject.ACCOUNT)) & (AuditEvent.subject == user.name)
    session.execute(update(AuditEvent).where(named).values(subject=other))
    # The name of a file or a token may contain theirs; the log then keeps only the owner.
    chosen = AuditEvent.action.in_(actions_of(Subject.FREE))
    for line in session.scalars(select(AuditEvent).where(chosen, AuditEvent.subject.icontains(user.name))):
        if names_somebody(line.subject, user.name):
            line.subject = other
    for collection in session.scalars(select(Collection)):
        collection.consensus_policy = policy_without_names(collection.consensus_policy, names)
    for kept in session.scalars(select(QrelsVersion)):
        kept.policy = policy_without_names(kept.policy, names)
        manifest = without_names(kept.manifest, names)
        if manifest != kept.manifest and isinstance(manifest, dict):
            kept.manifest = manifest
