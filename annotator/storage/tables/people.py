"""Accounts, teams, memberships, invitations, tokens, sessions and failed sign-ins."""

from datetime import date, datetime
from enum import StrEnum

from sqlalchemy import ForeignKey, UniqueConstraint, select
from sqlalchemy.orm import Mapped, mapped_column

from annotator.storage.tables.columns import Base

GREATEST_NAME_LENGTH = 64


# Of somebody who wanted to be forgotten, here or where a file comes from; nobody chooses a name that begins so.
FORGOTTEN = "forgotten-"


class Role(StrEnum):
    """What a member may do in one collection; a person may hold several roles."""

    ORGANISER = "organiser"
    JUDGE = "judge"
    # Decides where judges differ.
    ADJUDICATOR = "adjudicator"
    PARTICIPANT = "participant"
    # Reads results alone: no files of runs, and no names of judges.
    OBSERVER = "observer"


class UserKind(StrEnum):
    """Whether labels come from a person or from a machine, such as a language model."""

    PERSON = "person"
    MACHINE = "machine"


class User(Base):
    __tablename__ = "user"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    # The name as two people could not tell it apart: “Élan” and “élan” are one.
    name_key: Mapped[str] = mapped_column(unique=True)
    # None: this account cannot sign in, such as a judge made by an import of labels.
    password_hash: Mapped[str | None]
    administrator: Mapped[bool]
    # Raised when the password changes, so that older sessions end.
    sign_in_generation: Mapped[int] = mapped_column(default=0)
    kind: Mapped[str] = mapped_column(default=UserKind.PERSON)
    # Of a machine: what it is, what it was told, and when it gave its labels.
    model: Mapped[str] = mapped_column(default="")
    prompt: Mapped[str] = mapped_column(default="")
    labelled_on: Mapped[date | None]
    added_at: Mapped[datetime]
    # While the archive that brings it comes in: nobody finds it, and its name is taken.
    being_imported: Mapped[bool] = mapped_column(default=False)


class Team(Base):
    __tablename__ = "team"
    __table_args__ = (UniqueConstraint("collection_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    name: Mapped[str]


class Membership(Base):
    __tablename__ = "membership"
    __table_args__ = (UniqueConstraint("user_id", "collection_id", "role"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"))
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"), index=True)
    role: Mapped[str]
    team_id: Mapped[int | None] = mapped_column(ForeignKey("team.id"))
    # When a participant accepted the task's terms; without it they send nothing.
    terms_accepted_at: Mapped[datetime | None]
    # The number of the guidelines that a judge has accepted; when they change, they are accepted again.
    guidelines_accepted: Mapped[int | None]
    added_at: Mapped[datetime]


class ApiToken(Base):
    __tablename__ = "api_token"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), index=True)
    # What its owner calls it.
    name: Mapped[str]
    # The SHA-256 of the token, which is 32 random bytes: nothing slower is needed for what cannot be guessed.
    fingerprint: Mapped[str] = mapped_column(unique=True)
    # Blank-separated, such as “read runs judge organise”.
    scopes: Mapped[str]
    # None: in every collection of which the owner is a member.
    collection_id: Mapped[int | None] = mapped_column(ForeignKey("collection.id"))
    made_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    # To the minute, so that a program that asks often does not write often.
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class Invitation(Base):
    __tablename__ = "invitation"

    id: Mapped[int] = mapped_column(primary_key=True)
    # The SHA-256 of the link's secret, which is shown once and never stored.
    fingerprint: Mapped[str] = mapped_column(unique=True)
    # Whom it is for, as the organiser noted it; no account has this name yet.
    note: Mapped[str]
    # None: the link is of an administrator and gives no role.
    collection_id: Mapped[int | None] = mapped_column(ForeignKey("collection.id"), index=True)
    role: Mapped[str | None]
    team: Mapped[str | None]
    # Of a link to a new password: whose. None: whoever opens the link makes an account or signs in with theirs.
    user_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    made_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    made_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]
    used_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    withdrawn_at: Mapped[datetime | None]


class Attempts(Base):
    __tablename__ = "attempts"

    # A SHA-256 of what is counted: neither names nor addresses are kept.
    key: Mapped[str] = mapped_column(primary_key=True)
    count: Mapped[int]
    # When it is counted from nothing again.
    ends_at: Mapped[datetime]


class EndedSession(Base):
    __tablename__ = "ended_session"

    # What names the session; without the signature of the cookie it opens nothing.
    key: Mapped[str] = mapped_column(primary_key=True)
    # When the session would have ended by itself, so that the row can go.
    until: Mapped[datetime]


# The accounts of machine judges.
MACHINES = select(User.id).where(User.kind == UserKind.MACHINE)
