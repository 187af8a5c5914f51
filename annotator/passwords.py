"""Passwords: which are taken, and their scrypt hashes by Werkzeug; and secrets that nobody has to remember."""

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
# Of a password that was thrown away. Checked when there is no such account, so that the answer takes as long.
NOBODYS_HASH = (
    "scrypt:32768:8:3$gCH5cshnMAMTqagQ$5d2d2f0135c0753d88e2b83b750772b4a074a3914a6b93a748326ab9383909f2"
    "1ab64da37ea13ba822df541b7012a9c60bb6a3abf21b5a5f3a65aec91020756a"
)
# Who tries passwords in the order of their likelihood, as zxcvbn estimates it from 30,000 that were stolen and from
# words, names, dates and keyboards, is held up by the throttle for more than a year before these many.
LEAST_GUESSES = 1_000_000
# Of the demonstration; it opens nothing anywhere else.
KNOWN_PASSWORD = "demonstration"  # noqa: S105 - printed for everybody who starts the demonstration on their own machine
# More of a password is not looked at: the time grows faster than the length.
LOOKED_AT = 72
# What whoever guesses here tries first.
OUR_WORDS = (
    *("annotator", "demonstration", "collection", "topic", "document", "run", "pool", "judgement", "qrels"),
    *("leaderboard", "evaluation", "organiser", "judge", "adjudicator", "participant", "observer", "administrator"),
)


def hash_password(password: str, about: Iterable[str] = ()) -> str:
    """A salted scrypt hash.

    Raises `InvalidValueError` when the password is too short, absurdly long or easily guessed by who knows words
    `about` the account, such as its name.
    """
    if not LEAST_LENGTH <= len(password) <= GREATEST_LENGTH:
        raise InvalidValueError(
            "A password has between %(least)d and %(most)d characters.", least=LEAST_LENGTH, most=GREATEST_LENGTH
        )
    # Its lists of words take a tenth of a second of the processor to load, and few processes are given a new password.
    guessed = import_module("zxcvbn").zxcvbn(password[:LOOKED_AT], user_inputs=[*about, *OUR_WORDS])
    if guessed["guesses"] < LEAST_GUESSES:
        raise InvalidValueError(
            "This password is too common. Take a longer one, such as four words that have nothing to do "
            "with each other."
        )
    return hash_known_password(password)


def hash_known_password(password: str) -> str:
    """A hash of a password that everybody may know, as that of the demonstration."""
    return generate_password_hash(password, METHOD)


def password_matches(password_hash: str | None, password: str) -> bool:
    """Whether it is the password of that hash; an account without one matches nothing."""
    matches = check_password_hash(password_hash or NOBODYS_HASH, password)
    return matches and password_hash is not None


def new_secret(prefix: str = "") -> str:
    """A secret of 256 random bits in 43 letters, digits, - and _, for a link or a token."""
    return prefix + secrets.token_urlsafe(SECRET_BYTES)


def secret_fingerprint(secret: str) -> str:
    """What is stored of a secret: its SHA-256, for nothing slower is needed for what cannot be guessed."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()
