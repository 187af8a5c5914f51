"""Recovery codes beside a second factor: each is accepted once, in place of the app or passkey that is lost."""

import secrets
import unicodedata
from base64 import b32encode
from collections.abc import Sequence

from sqlalchemy.orm import Session

from annotator.passwords import secret_fingerprint
from annotator.storage.people.second_factors import add_recovery_codes, takes_recovery_code

RECOVERY_CODES = 10
RECOVERY_BYTES = 15  # 24 letters and digits
GROUP = 4


def new_codes(session: Session, user_id: int) -> Sequence[str]:
    """Recovery codes in place of all earlier ones of the account; only their fingerprints are stored."""
    codes = [b32encode(secrets.token_bytes(RECOVERY_BYTES)).decode().lower() for _ in range(RECOVERY_CODES)]
    add_recovery_codes(session, user_id, [secret_fingerprint(code) for code in codes])
    return ["-".join(code[at : at + GROUP] for at in range(0, len(code), GROUP)) for code in codes]


def uses_code(session: Session, user_id: int, code: str) -> bool:
    """Whether this is a recovery code of the account, which is not accepted again."""
    return takes_recovery_code(session, user_id, secret_fingerprint(normalised(code)))


def normalised(code: str) -> str:
    """A code as it may be typed: with blanks or hyphens, in full-width digits or capitals."""
    plain = unicodedata.normalize("NFKC", code).lower()
    return "".join(sign for sign in plain if not sign.isspace() and sign != "-")
