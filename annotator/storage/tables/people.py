"""Tables of accounts, teams, memberships, invitations, tokens, identities, sessions and counted attempts."""

from datetime import date, datetime
from enum import StrEnum

from sqlalchemy import BigInteger, ForeignKey, UniqueConstraint, select
from sqlalchemy.orm import Mapped, mapped_column

from annotator.storage.tables.columns import Base

GREATEST_NAME_LENGTH = 64


# Prefix of the names of erased accounts, here or on a file's origin; nobody may choose such a name.
FORGOTTEN = "forgotten-"


class Role(StrEnum):
    """A role in one collection; a person may have several."""

    ORGANISER = "organiser"
    JUDGE = "judge"
    # Decides documents on which judges differ.
    ADJUDICATOR = "adjudicator"
    PARTICIPANT = "participant"
    # Read-only access to results, without run files and judges' names.
    OBSERVER = "observer"


class UserKind(StrEnum):
    """Whether labels come from a person or a machine, such as a language model."""

    PERSON = "person"
    MACHINE = "machine"


class User(Base):
    __tablename__ = "user"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    # Normalised name (NFKC, case-folded), so that “Élan” and “élan” are one.
    name_key: Mapped[str] = mapped_column(unique=True)
    # None: the account cannot sign in, such as a judge created by an import of labels.
    password_hash: Mapped[str | None]
    administrator: Mapped[bool]
    # Incremented with the password, so that older sessions end.
    sign_in_generation: Mapped[int] = mapped_column(default=0)
    kind: Mapped[str] = mapped_column(default=UserKind.PERSON)
    # For machines: model, prompt and date of labelling.
    model: Mapped[str] = mapped_column(default="")
    prompt: Mapped[str] = mapped_column(default="")
    labelled_on: Mapped[date | None]
    added_at: Mapped[datetime]
    # While its archive is imported: not found, but the name is reserved.
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
    # When a participant accepted the terms; required for submitting runs.
    terms_accepted_at: Mapped[datetime | None]
    # Number of the guidelines version that a judge accepted; a new version must be accepted again.
    guidelines_accepted: Mapped[int | None]
    added_at: Mapped[datetime]


class ApiToken(Base):
    __tablename__ = "api_token"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), index=True)
    # The owner's label for it.
    name: Mapped[str]
    # SHA-256 of the token, which has 32 random bytes: a slow hash is not needed.
    fingerprint: Mapped[str] = mapped_column(unique=True)
    # Blank-separated, such as “read runs judge organise”.
    scopes: Mapped[str]
    # None: valid in all collections of the owner.
    collection_id: Mapped[int | None] = mapped_column(ForeignKey("collection.id"))
    made_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    # Rounded to the minute, to save writes.
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class Invitation(Base):
    __tablename__ = "invitation"

    id: Mapped[int] = mapped_column(primary_key=True)
    # SHA-256 of the link's secret, which is shown once and never stored.
    fingerprint: Mapped[str] = mapped_column(unique=True)
    # The invited person as noted by the organiser; not an account name.
    note: Mapped[str]
    # None: an administrator's link, which grants no role.
    collection_id: Mapped[int | None] = mapped_column(ForeignKey("collection.id"), index=True)
    role: Mapped[str | None]
    team: Mapped[str | None]
    # Account of a password link. None: the person who opens the link signs in or creates an account.
    user_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    made_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    made_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]
    used_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    withdrawn_at: Mapped[datetime | None]


class Attempts(Base):
    __tablename__ = "attempts"

    # SHA-256 of the counted subject: names and addresses are not stored.
    key: Mapped[str] = mapped_column(primary_key=True)
    count: Mapped[int]
    # When the count restarts.
    ends_at: Mapped[datetime]


class EndedSession(Base):
    __tablename__ = "ended_session"

    # Identifies the session; useless without the cookie's signature.
    key: Mapped[str] = mapped_column(primary_key=True)
    # When the session would have expired, so that the row can be deleted.
    until: Mapped[datetime]


class SecondFactor(Base):
    __tablename__ = "second_factor"

    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), primary_key=True, autoincrement=False)
    # Base32; the codes are computed from it, so it is no hash.
    secret: Mapped[str]
    # Number of the 30 seconds since 1970 whose code was accepted last: it and earlier ones are not accepted again.
    last_step: Mapped[int] = mapped_column(BigInteger)
    added_at: Mapped[datetime]


class RecoveryCode(Base):
    __tablename__ = "recovery_code"

    # SHA-256 of the code, which has 120 random bits: a slow hash is not needed.
    fingerprint: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), index=True)


# A key pair of a person's device or security key for this site, whose public key is stored (WebAuthn).
class Passkey(Base):
    __tablename__ = "passkey"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), index=True)
    # The credential's id, chosen by the device, in base64url.
    credential: Mapped[str] = mapped_column(unique=True)
    # COSE key (RFC 9052) in base64url.
    public_key: Mapped[str]
    # Random, the same for all passkeys of an account: by it a device knows whose they are.
    user_handle: Mapped[str]
    # The host of the site for which it was made; browsers offer it nowhere else.
    host: Mapped[str]
    # The owner's label for it.
    name: Mapped[str]
    # Of the device, at the last use; 0 for devices that do not count.
    sign_count: Mapped[int] = mapped_column(BigInteger)
    # The device checked who used it when it was made. Anybody can set the first PIN of a security key later.
    verified: Mapped[bool]
    added_at: Mapped[datetime]
    last_used_at: Mapped[datetime | None]


class UsedChallenge(Base):
    __tablename__ = "used_challenge"

    # SHA-256 of a challenge that a passkey has signed: a cookie could offer it a second time.
    fingerprint: Mapped[str] = mapped_column(primary_key=True)
    # When the challenge would have expired, so that the row can be deleted.
    until: Mapped[datetime]


# A person at a provider of sign-in, who opens the account by signing in there.
class Identity(Base):
    __tablename__ = "identity"
    __table_args__ = (UniqueConstraint("issuer", "subject"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), index=True)
    # Together they name the person for good; an e-mail address may become somebody else's.
    issuer: Mapped[str]
    subject: Mapped[str]
    # The e-mail address when it was linked, to be recognised by people; nothing is decided by it. "" if none was given.
    label: Mapped[str]
    added_at: Mapped[datetime]


# The accounts of machine judges.
MACHINES = select(User.id).where(User.kind == UserKind.MACHINE)
