"""E-mail addresses and kinds of e-mail, as settings and people write them."""

import re

from annotator.errors import InvalidValueError, NotAllowedError

SITE_ADDRESS = re.compile(r"https?://[\w.-]+(:[0-9]{1,5})?(/[\w./~-]*)?|https?://\[[0-9A-Fa-f:]+\](:[0-9]{1,5})?/?")
# A file, or a variable of the environment.
PLACE_OF_PASSWORD = re.compile(r"/.+|env:[A-Za-z_][A-Za-z0-9_]*")
MAIL_TLS = ("starttls", "tls", "none")
MAIL_KINDS = ("invitations", "passwords", "receipts", "reminders", "jobs", "answers")
# ASCII alone: few servers could send to an address with other letters. No quoted names, which nobody has, no dot at an
# end or beside another, and no “=?”, with which an encoded word of a header begins: programs decode it to other text.
MAIL_ADDRESS = re.compile(
    r"(?!\.|[^@]*\.[.@]|[^@]*=\?)[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*"
)
LONGEST_MAIL_ADDRESS = 254  # RFC 5321, with the brackets of a path left out
MOST_CHARACTERS_SHOWN = 100


def is_mail_address(text: str) -> bool:
    """Whether a text is an e-mail address alone, without a name."""
    return len(text) <= LONGEST_MAIL_ADDRESS and MAIL_ADDRESS.fullmatch(text) is not None


def checked_mail_address(text: str) -> str:
    """An e-mail address without the blanks around it; raises `InvalidValueError` for another text."""
    address = text.strip()
    if not is_mail_address(address):
        raise InvalidValueError("“%(text)s” is no e-mail address, such as name@example.org.", text=shortened(address))
    return address


def refuse_unsent(*, is_sent: bool) -> None:
    """Raise `NotAllowedError` when the site does not send e-mail of the kind that is asked for."""
    if not is_sent:
        raise NotAllowedError(
            "This site does not send this by e-mail. An administrator can change that by the settings %(settings)s.",
            settings="ANNOTATOR_MAIL_HOST, ANNOTATOR_MAIL_KINDS",
        )


def read_site_address(text: str, name: str) -> str:
    """Parse the setting of the site's address, without a slash at its end."""
    if text and not SITE_ADDRESS.fullmatch(text):
        raise InvalidValueError(
            "The setting %(name)s is an address such as https://pool.example.org, not “%(text)s”.",
            name=name,
            text=shortened(text),
        )
    return text.rstrip("/")


def read_sender(text: str, name: str) -> str:
    """Parse a setting that is an e-mail address."""
    if text and not is_mail_address(text):
        raise InvalidValueError(
            "The setting %(name)s is an e-mail address alone, such as pool@example.org, not “%(text)s”.",
            name=name,
            text=shortened(text),
        )
    return text


def read_place_of_password(text: str, name: str) -> str:
    """Parse a setting that names where a password is."""
    if text and not PLACE_OF_PASSWORD.fullmatch(text):
        # Without what is there, which may be the password itself.
        raise InvalidValueError(
            "The setting %(name)s names a file, from / on, or a variable as env:VARIABLE: not the password itself.",
            name=name,
        )
    return text


def read_mail_kinds(text: str, name: str) -> tuple[str, ...]:
    """Parse comma-separated kinds of e-mail."""
    kinds = tuple(kind.strip() for kind in text.split(",") if kind.strip())
    for kind in kinds:
        if kind not in MAIL_KINDS:
            raise InvalidValueError(
                "The setting %(name)s has some of %(known)s, not “%(text)s”.",
                name=name,
                known=", ".join(MAIL_KINDS),
                text=shortened(kind),
            )
    return kinds


def shortened(text: str) -> str:
    """The beginning of a text, for messages."""
    return text if len(text) <= MOST_CHARACTERS_SHOWN else f"{text[:MOST_CHARACTERS_SHOWN]}…"
