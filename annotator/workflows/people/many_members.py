"""Many people at once: accounts and roles from a file, each new account with a link to its first password."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import AnnotatorError, InvalidValueError, Problems
from annotator.evaluation.formats.people_format import PersonRow, parse_people
from annotator.evaluation.formats.unpacking import unpack_into
from annotator.files import InputFile
from annotator.passwords import new_secret, secret_fingerprint
from annotator.spreadsheets import csv_text
from annotator.storage import Invitation, Role, User
from annotator.storage.collections.collection import lock_collection
from annotator.storage.people.accounts import give_role, new_user
from annotator.storage.site.bulk_insert import chunks

USUAL_DAYS = 14
MOST_DAYS = 90
LINKED = ("name", "role", "team", "link")


@dataclass(frozen=True)
class PeopleFile:
    """The rows of a file that has no problem of form."""

    name: str
    rows: Sequence[PersonRow]


@dataclass(frozen=True)
class NewMember:
    """Somebody who has a role now; `secret` is that of the link, None for an account that was there already."""

    name: str
    role: Role
    team: str | None
    secret: str | None


@dataclass
class _Adding:
    """What all rows of a file share."""

    session: Session
    collection_id: int
    made_by_id: int | None
    at: datetime
    expires_at: datetime
    present: dict[str, User] = field(default_factory=dict)


def read_people(file: InputFile, *, unpacked_limit: int) -> PeopleFile:
    """Read a file of name, role and team; `FileRefusedError` with every problem of its form."""
    problems = Problems()
    text = unpack_into(problems, file.name, file.content, unpacked_limit)
    rows = [] if text is None else parse_people(file.name, text, problems)
    problems.refuse_if_any()
    return PeopleFile(file.name, rows)


def add_people(
    session: Session, slug: str, people: PeopleFile, *, days: int = USUAL_DAYS, made_by_id: int | None, at: datetime
) -> list[NewMember]:
    """Give all of them their roles, making accounts that are not there yet; a row each, in the file's order.

    An account that is made cannot be signed in to until its link has been opened and a password chosen. Raises
    `FileRefusedError` with every name, role or team that does not fit; nothing is stored then.
    """
    if not 1 <= days <= MOST_DAYS:
        raise InvalidValueError("The number of days is between 1 and %(most)d.", most=MOST_DAYS)
    collection = lock_collection(session, slug)
    adding = _Adding(session, collection.id, made_by_id, at, at + timedelta(days=days))
    adding.present = _accounts(session, {row.name for row in people.rows})
    problems = Problems()
    added: list[NewMember] = []
    for row in people.rows:
        try:
            added.append(_add(adding, row))
        except AnnotatorError as refusal:
            problems.add(people.name, row.line, refusal.sentence.template, **refusal.sentence.values)
    problems.refuse_if_any()
    return added


def links_csv(added: Sequence[NewMember], address: str) -> str:
    """Who got which role, with the links of those who have no password yet; `address` is what the secret follows."""
    rows = [
        (one.name, one.role.value, one.team or "", "" if one.secret is None else f"{address}{one.secret}")
        for one in added
    ]
    return csv_text([LINKED, *rows])


def _add(adding: _Adding, row: PersonRow) -> NewMember:
    role = _role(row.role)
    user = adding.present.get(row.name)
    is_new = user is None
    if user is None:
        user = new_user(adding.session, row.name, password_hash=None, administrator=False, added_at=adding.at)
        adding.present[row.name] = user
    give_role(adding.session, adding.collection_id, user, role, team=row.team or None, added_at=adding.at)
    return NewMember(row.name, role, row.team or None, _link(adding, user) if is_new else None)


def _link(adding: _Adding, user: User) -> str:
    secret = new_secret()
    adding.session.add(
        Invitation(
            fingerprint=secret_fingerprint(secret),
            note="",
            collection_id=adding.collection_id,
            user_id=user.id,
            made_by_id=adding.made_by_id,
            made_at=adding.at,
            expires_at=adding.expires_at,
        )
    )
    return secret


def _role(written: str) -> Role:
    try:
        return Role(written)
    except ValueError:
        raise InvalidValueError(
            "“%(written)s” is no role: organiser, judge, adjudicator, participant or observer.", written=written
        ) from None


def _accounts(session: Session, names: set[str]) -> dict[str, User]:
    found = (
        session.scalars(select(User).where(User.name.in_(some), User.being_imported.is_(False)))
        for some in chunks(sorted(names))
    )
    return {user.name: user for users in found for user in users}
