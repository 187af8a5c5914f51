"""Submissions: until when participants send runs, under which terms, and which scores they see from when on."""

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotAllowedError, NotFoundError
from annotator.evaluation.free_text import check_free_text
from annotator.storage import Collection, CollectionState, Membership, Role, ScoresShown, Team
from annotator.storage.collection import find_collection, find_open_collection, lock_collection, lock_open_collection

LONGEST_TERMS = 100_000
GREATEST_MOST_DOCUMENTS = 100_000

NO_DEADLINE = "none"
NOW = "now"
MOMENT = re.compile(r"(?P<clock>\d{4}-\d\d-\d\d[ T]\d\d:\d\d) *(?P<zone>\S*)", re.ASCII)
OFFSET = re.compile(r"(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>[0-5]\d)?", re.ASCII)
# Where a day ends last: “anywhere on Earth”, as calls for runs write it.
ANYWHERE_ON_EARTH = timezone(timedelta(hours=-12))


@dataclass(frozen=True)
class Deadline:
    """The moment before which participants send and correct runs; `at` is None when there is no such moment."""

    at: datetime | None


@dataclass(frozen=True)
class SubmissionChange:
    """What to change; None leaves a thing as it is, and empty terms ask nothing of anybody."""

    deadline: Deadline | None = None
    terms: str | None = None
    most_documents: int | None = None


@dataclass(frozen=True)
class Terms:
    """The terms of a task as one person sees them; the fingerprint tells later which words they read."""

    text: str
    fingerprint: str
    accepted_at: datetime | None


@dataclass(frozen=True)
class SenderState:
    """What keeps a participant from sending runs at this moment."""

    deadline_passed: bool
    must_accept_terms: bool

    @property
    def may_send(self) -> bool:
        """Whether nothing keeps them from it."""
        return not self.deadline_passed and not self.must_accept_terms


def read_deadline(text: str) -> Deadline:
    """The deadline that somebody wrote as `2026-05-01 23:59`, with a zone behind it when it is not UTC.

    A zone is `UTC`, `AoE`, an offset such as `+09:00` or a name such as `Asia/Seoul`. Nothing, or `none`, is no
    deadline. `InvalidValueError` says what is wrong with anything else.
    """
    written = text.strip()
    if written in {"", NO_DEADLINE}:
        return Deadline(None)
    match = MOMENT.fullmatch(written)
    if match is None:
        raise _no_moment(written)
    zone = _zone(match["zone"])
    try:
        return Deadline(datetime.fromisoformat(match["clock"]).replace(tzinfo=zone).astimezone(UTC))
    except (ValueError, OverflowError) as error:
        raise _no_moment(written) from error


def write_deadline(at: datetime | None) -> str:
    """A deadline as `read_deadline` reads it, in UTC; nothing when there is none."""
    return "" if at is None else f"{at.astimezone(UTC).replace(tzinfo=None).isoformat(' ', 'minutes')} UTC"


def change_submissions(session: Session, slug: str, change: SubmissionChange) -> None:
    """Change the rules for submissions; whoever accepted other terms has to accept the new ones."""
    collection = lock_open_collection(session, slug)
    if change.deadline is not None:
        collection.submissions_until = change.deadline.at
    if change.most_documents is not None:
        if not 1 <= change.most_documents <= GREATEST_MOST_DOCUMENTS:
            raise InvalidValueError(
                "The most documents a topic is a number from 1 to %(most)d, not %(given)d.",
                most=GREATEST_MOST_DOCUMENTS,
                given=change.most_documents,
            )
        collection.most_documents = change.most_documents
    if change.terms is not None and change.terms.strip() != collection.terms:
        check_free_text(change.terms, LONGEST_TERMS)
        collection.terms = change.terms.strip()
        session.execute(
            update(Membership).where(Membership.collection_id == collection.id).values(terms_accepted_at=None)
        )


def read_release_moment(text: str) -> datetime | None:
    """The moment that somebody wrote as for a deadline; None for `now` or nothing, and `InvalidValueError` as there."""
    written = text.strip()
    if written in {"", NOW}:
        return None
    if written == NO_DEADLINE:
        raise _no_moment(written)
    return read_deadline(written).at


def scores_seen(released_at: datetime | None, shown: ScoresShown, *, at: datetime) -> ScoresShown:
    """What participants see of the scores at a moment."""
    return ScoresShown.NOTHING if released_at is None or at < released_at else shown


def release_scores(
    session: Session,
    slug: str,
    *,
    at: datetime,
    moment: datetime | None = None,
    shown: ScoresShown | None = None,
    early: bool = False,
) -> None:
    """Let participants see scores from a moment on: those of runs uploaded before it, as much of them as is `shown`.

    What is not given stays as it was decided before; at first that is the present moment, `at`, and a team's own
    scores beside the median and the best of all. Raises `ConflictError` while runs are still taken at the moment,
    unless `early`: who may send runs and see what they score can find out the grades.
    """
    collection = lock_collection(session, slug)
    if shown is ScoresShown.NOTHING:
        collection.scores_released_at = None
        return
    if moment is not None or collection.scores_released_at is None:
        wanted = moment or at
        if not early and collection.state == CollectionState.OPEN:
            _refuse_early_release(collection, wanted)
        collection.scores_released_at = wanted
    if shown is not None:
        collection.scores_shown = shown


def take_scores_back(session: Session, slug: str) -> None:
    """Show participants no scores any more."""
    lock_collection(session, slug).scores_released_at = None


def show_terms(session: Session, slug: str, user_id: int) -> Terms:
    """The terms, and when this person accepted them; never, for whoever does not take part."""
    collection = find_collection(session, slug)
    membership = _participation(session, collection.id, user_id)
    accepted_at = None if membership is None else membership.terms_accepted_at
    return Terms(collection.terms, _fingerprint(collection.terms), accepted_at)


def accept_terms(session: Session, slug: str, user_id: int, *, fingerprint: str, at: datetime) -> None:
    """Note that a participant accepts the terms they read; accepting twice keeps the first moment.

    Raises `ConflictError` when these are not the terms any more, and `NotFoundError` for whoever does not take part.
    """
    collection = lock_collection(session, slug)
    membership = _participation(session, collection.id, user_id)
    if membership is None:
        raise NotFoundError("You belong to no team in this collection.")
    if fingerprint != _fingerprint(collection.terms):
        raise ConflictError("The terms have changed since you opened their page. Read them again.")
    membership.terms_accepted_at = membership.terms_accepted_at or at


def sender_state(session: Session, slug: str, user_id: int, *, now: datetime) -> SenderState:
    """What keeps a participant from sending runs; organisers are bound by none of it."""
    collection = find_collection(session, slug)
    return SenderState(_is_late(collection, now), _must_accept(session, collection, user_id))


def check_may_send(session: Session, slug: str, user_id: int, *, team: str | None, at: datetime) -> None:
    """Refuse the runs of a participant who is late, has not accepted the terms or has left the team.

    An organiser has no team (None) and is bound by none of it. For the transaction that stores runs: until it ends,
    nothing of that changes. Raises `ConflictError` from the deadline
    on and in a closed collection, `NotAllowedError` for terms not accepted and for another team.
    """
    _refuse_sender(session, lock_open_collection(session, slug), user_id, team, at)


def foresee_sending(session: Session, slug: str, user_id: int, *, team: str | None, at: datetime) -> None:
    """Refuse the same before anything is read, without keeping others waiting."""
    _refuse_sender(session, find_open_collection(session, slug), user_id, team, at)


def check_may_change(session: Session, slug: str, user_id: int, *, team: str | None, at: datetime) -> None:
    """Refuse a participant's changes of runs after the deadline, or of a team they have left, for the transaction.

    Terms are no matter here: who does not want to accept new ones can still withdraw.
    """
    _refuse_change(session, lock_open_collection(session, slug), user_id, team, at)


def _refuse_early_release(collection: Collection, at: datetime) -> None:
    if collection.submissions_until is None:
        raise ConflictError(
            "Runs are taken at any time, so teams could try out runs until the scores tell them the grades. Set a "
            "deadline first, close the collection, or say that the scores are released early."
        )
    if not _is_late(collection, at):
        raise ConflictError(
            "Runs are taken before %(moment)s, so teams could try out runs until the scores tell them the grades. Wait "
            "for the deadline, close the collection, or say that the scores are released early.",
            moment=write_deadline(collection.submissions_until),
        )


def _refuse_sender(session: Session, collection: Collection, user_id: int, team: str | None, at: datetime) -> None:
    _refuse_change(session, collection, user_id, team, at)
    if team is not None and _must_accept(session, collection, user_id):
        raise NotAllowedError("Accept the terms of the task before you send runs.")


def _refuse_change(session: Session, collection: Collection, user_id: int, team: str | None, at: datetime) -> None:
    if team is None:
        return
    membership = _participation(session, collection.id, user_id)
    own_team = None if membership is None else session.get(Team, membership.team_id)
    if own_team is None or own_team.name != team:
        raise NotAllowedError("You are not in the team %(team)s any more.", team=team)
    if _is_late(collection, at):
        raise ConflictError(
            "The deadline has passed: runs were taken, and could be changed, before %(moment)s.",
            moment=write_deadline(collection.submissions_until),
        )


def _is_late(collection: Collection, at: datetime) -> bool:
    return collection.submissions_until is not None and at >= collection.submissions_until


def _must_accept(session: Session, collection: Collection, user_id: int) -> bool:
    membership = _participation(session, collection.id, user_id)
    return bool(collection.terms) and (membership is None or membership.terms_accepted_at is None)


def _participation(session: Session, collection_id: int, user_id: int) -> Membership | None:
    return session.scalar(
        select(Membership).where(
            Membership.collection_id == collection_id,
            Membership.user_id == user_id,
            Membership.role == Role.PARTICIPANT,
        )
    )


def _fingerprint(terms: str) -> str:
    return hashlib.sha256(terms.encode()).hexdigest()


def _no_moment(text: str) -> InvalidValueError:
    return InvalidValueError(
        "“%(text)s” is not a moment such as “2026-05-01 23:59”, “2026-05-01 23:59 Asia/Seoul” or “2026-05-01 23:59 "
        "+09:00”.",
        text=text,
    )


def _zone(name: str) -> tzinfo:
    """The zone of that name, UTC for none; names of places are those of the system's time zone database."""
    if name.upper() in {"", "UTC", "Z"}:
        return UTC
    if name.upper() == "AOE":
        return ANYWHERE_ON_EARTH
    offset = OFFSET.fullmatch(name)
    try:
        if offset is None:
            return ZoneInfo(name)
        size = timedelta(hours=int(offset["hours"]), minutes=int(offset["minutes"] or 0))
        return timezone(-size if offset["sign"] == "-" else size)
    # A folder of zones, such as “Asia”, is an OSError on some systems; an unknown name is a KeyError.
    except (KeyError, OSError, ValueError) as error:
        raise InvalidValueError(
            "“%(name)s” is not a time zone: give UTC, AoE, an offset such as “+09:00” or a name such as “Asia/Seoul”.",
            name=name,
        ) from error
