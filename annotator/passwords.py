"""Passwords: what is long enough, and their scrypt hashes by Werkzeug."""

from werkzeug.security import check_password_hash, generate_password_hash

from annotator.errors import InvalidValueError

LEAST_LENGTH = 8
GREATEST_LENGTH = 256
# Checked when there is no such account, so that the answer takes as long as for one that exists.
NOBODYS_HASH = generate_password_hash("nobody's password")


def hash_password(password: str) -> str:
    """A salted scrypt hash; `InvalidValueError` when the password is too short or absurdly long."""
    if not LEAST_LENGTH <= len(password) <= GREATEST_LENGTH:
        raise InvalidValueError(
            "A password has between %(least)d and %(most)d characters.", least=LEAST_LENGTH, most=GREATEST_LENGTH
        )
    return generate_password_hash(password)


def password_matches(password_hash: str | None, password: str) -> bool:
    """Whether it is the password of that hash; an account without one matches nothing."""
    matches = check_password_hash(password_hash or NOBODYS_HASH, password)
    return matches and password_hash is not None
