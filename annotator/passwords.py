"""Passwords: which are accepted, and their scrypt hashes by Werkzeug; and random secrets for links and tokens."""

import hashlib
import secrets
from collections.abc import Iterable
from importlib import import_module

from werkzeug.security import check_password_hash, generate_password_hash

from annotator.errors import InvalidValueError

LEAST_LENGTH = 8
GREATEST_LENGTH = 256
SECRET_BYTES = 32
# N = 2^15, r = 8, p = 3, one of the settings of OWASP's Password Storage Cheat Sheet: 32 MiB and a quarter of a second.
METHOD = "scrypt:32768:8:3"
# Of a discarded password. Checked when there is no such account, so that the response takes as long.
NOBODYS_HASH = (
    "scrypt:32768:8:3$gCH5cshnMAMTqagQ$5d2d2f0135c0753d88e2b83b750772b4a074a3914a6b93a748326ab9383909f2"
    "1ab64da37ea13ba822df541b7012a9c60bb6a3abf21b5a5f3a65aec91020756a"
)
# An attacker who tries passwords by likelihood, as zxcvbn estimates it from 30,000 leaked passwords and from
# words, names, dates and keyboards, is slowed down by the throttle for more than a year before this many.
LEAST_GUESSES = 1_000_000
# Of the demonstration; valid nowhere else.
KNOWN_PASSWORD = "demonstration"  # noqa: S105 - printed for everyone who starts the demonstration on their own machine
# Only the beginning of a password is rated: the time grows faster than the length.
LOOKED_AT = 72
# What an attacker on this site would try first.
OUR_WORDS = (
    *("annotator", "demonstration", "collection", "topic", "document", "run", "pool", "judgement", "qrels"),
    *("leaderboard", "evaluation", "organiser", "judge", "adjudicator", "participant", "observer", "administrator"),
)


def hash_password(password: str, about: Iterable[str] = ()) -> str:
    """A salted scrypt hash.

    Raises `InvalidValueError` when the password is too short, absurdly long or easily guessed from words `about` the
    account, such as its name.
    """
    if not LEAST_LENGTH <= len(password) <= GREATEST_LENGTH:
        raise InvalidValueError(
            "A password has between %(least)d and %(most)d characters.", least=LEAST_LENGTH, most=GREATEST_LENGTH
        )
    # Its word lists take a tenth of a second to load, and few processes ever hash a new password.
    guessed = import_module("zxcvbn").zxcvbn(password[:LOOKED_AT], user_inputs=[*about, *OUR_WORDS])
    if guessed["guesses"] < LEAST_GUESSES:
        raise InvalidValueError(
            "This password is too common. Take a longer one, such as four words that have nothing to do "
            "with each other."
        )
    return hash_known_password(password)


def hash_known_password(password: str) -> str:
    """A hash of a publicly known password, such as that of the demonstration."""
    return generate_password_hash(password, METHOD)


def password_matches(password_hash: str | None, password: str) -> bool:
    """Whether the password has this hash; an account without one matches nothing."""
    matches = check_password_hash(password_hash or NOBODYS_HASH, password)
    return matches and password_hash is not None


def new_secret(prefix: str = "") -> str:
    """A secret of 256 random bits in 43 letters, digits, - and _, for a link or a token."""
    return prefix + secrets.token_urlsafe(SECRET_BYTES)


def secret_fingerprint(secret: str) -> str:
    """The SHA-256 of a secret, which is stored in its place; a random secret needs no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()
