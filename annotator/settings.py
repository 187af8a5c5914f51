"""The settings: from the environment and one TOML file, read once and validated."""

import ipaddress
import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from annotator.errors import InvalidValueError
from annotator.mail_values import (
    MAIL_KINDS,
    MAIL_TLS,
    read_mail_kinds,
    read_place_of_password,
    read_sender,
    read_site_address,
    shortened,
)

DEFAULT_DATABASE_URL = "sqlite:///annotator.sqlite"
MEBIBYTE = 1 << 20
# Of the secret key: 32 hexadecimal digits are 128 random bits.
LEAST_KEY_LENGTH = 32
LEAST_KEY_SIGNS = 8
GREATEST_PORT = 65_535
PREFIX = "ANNOTATOR_"
SETTINGS_FILE = "ANNOTATOR_SETTINGS"  # names the file; not a setting in the file itself
LOG_FORMATS = ("none", "text", "json")
# No setting has more digits, and Python refuses to parse very long numbers.
MOST_DIGITS = 9
# A host name as in a Host header, or a dot and a domain for all names below it; no address or path.
SITE_HOST = re.compile(r"\.?[\w-]+(\.[\w-]+)*")
# A file that has a key, or a variable of the environment.
MODEL_KEY = re.compile(r"/.+|env:[A-Za-z_][A-Za-z0-9_]*")
# Not settings of the server: the address for `--site`, and variables of the tests.
OTHERS = frozenset(
    f"{PREFIX}{name}" for name in ("SETTINGS", "SITE", "TOKEN", "THOROUGH", "FAULTS", "REQUIRE_BROWSER", "FUZZ")
)


@dataclass(frozen=True)
class Settings:
    """Everything an installation may choose; sizes in bytes. `docs/generated.py` makes a table of the comments."""

    #: Signs the sessions: 32 random characters or more. `serve` refuses to start without it.
    secret_key: str = field(default="", repr=False)
    #: The database; also `postgresql+psycopg://…`, with the extra `postgres`.
    database_url: str = DEFAULT_DATABASE_URL
    #: A streaming replica of a PostgreSQL database: pages of results are read from it while it keeps up. Empty: none.
    replica_url: str = ""
    #: The largest upload by page, in MiB.
    upload_limit: int = 256 * MEBIBYTE
    #: The largest file after unpacking, in MiB.
    unpacked_limit: int = 1024 * MEBIBYTE
    #: `1` behind HTTPS: cookies are sent by HTTPS only. With `proxies`, `1` is the default.
    secure_cookies: bool = False
    #: The address at which `serve` listens.
    host: str = "127.0.0.1"
    #: The port at which `serve` listens.
    port: int = 8000
    #: With how many processes `serve` answers.
    workers: int = 2
    #: A client that sends nothing for so many seconds, or less than 500 bytes a second, gets 408.
    sender_seconds: int = 20
    #: Pages that a process makes at the same time, beside the answers to judges.
    page_threads: int = 2
    #: Topics that a collection may have; SQLite's statements take at most 30,000.
    topic_limit: int = 20_000
    #: Connections that a process accepts from one address; 0: no limit, for use behind a proxy, which has one address.
    connections_per_address: int = 1_000
    #: Requests by API that a token may send in a minute to each process; 0: no limit.
    api_requests_per_minute: int = 6_000
    #: How many proxies are in front; their X-Forwarded headers are trusted, and cookies are sent by HTTPS only.
    proxies: int = 0
    #: For so many days browsers use HTTPS only (HSTS); 0 sends no such header.
    hsts_days: int = 0
    #: A line for every request: `text`, `json` or `none`. It contains no secrets.
    log_format: str = "none"
    #: The port of the figures for Prometheus (requests, seconds, jobs); 0: none.
    metrics_port: int = 0
    #: The site's names, comma-separated; `.example.net` includes all below it. Needed where other machines connect.
    site_hosts: tuple[str, ...] = ()
    #: The hosts to which the server may send, comma-separated, as for webhooks; `.example.net` includes all below it. A
    #: name that leads to a private address needs this address, too. Empty: none.
    outgoing_hosts: tuple[str, ...] = ()
    #: The keys of machine judges, comma-separated: `api.example.org=/run/secrets/key` names a file that has the key for
    #: a host, `api.example.org=env:VARIABLE` a variable of the environment. It is sent to this host only.
    model_keys: tuple[str, ...] = ()
    #: The keys of search engines, comma-separated, as those of machine judges. The file or variable has the value of
    #: the header `Authorization`, such as `ApiKey …` or `Basic …`, or another header as `X-Api-Key: …`.
    search_keys: tuple[str, ...] = ()
    #: The address at which people reach the site, such as `https://pool.example.org`: links in e-mail begin with it.
    site_address: str = ""
    #: The mail server (SMTP) by which the site sends e-mail; empty: it sends none.
    mail_host: str = ""
    #: The port of the mail server.
    mail_port: int = 587
    #: How the connection is encrypted: `starttls`, `tls` from the first byte (port 465), or `none`, for a server on the
    #: same machine. Certificates are checked.
    mail_tls: str = "starttls"
    #: The name by which the site signs in at the mail server; empty: it does not.
    mail_name: str = ""
    #: Where the password for it is: a file, as `/run/secrets/mail`, or `env:VARIABLE`.
    mail_password: str = ""
    #: The address from which e-mail is sent.
    mail_from: str = ""
    #: The kinds of e-mail that the site sends, comma-separated: `invitations`, `passwords` (for those who forgot
    #: theirs), `receipts` of runs, `reminders` of deadlines, `jobs`. What confirms an address is always sent.
    mail_kinds: tuple[str, ...] = MAIL_KINDS
    #: The site sends at most so many e-mails in an hour; more of them wait.
    mail_per_hour: int = 500
    #: What organisers may choose as sources of documents, comma-separated: folders, with all beneath them, and data
    #: sets such as `ir_datasets:msmarco-passage-v2`. Commands at the server may name any.
    document_sources: tuple[str, ...] = ()
    #: The folder for the indexes of such folders; empty: beside the database's file, PostgreSQL needs one.
    index_folder: str = ""
    #: A folder for the search index, with the extra `search`, for corpora of millions of documents; each server and
    #: worker needs it. Empty: the index of the database.
    search_folder: str = ""
    #: `1` accepts the demonstration's passwords, which everybody knows.
    demonstration: bool = False
    #: `1`: organisers and administrators can do nothing before they have turned on a second factor.
    require_second_factor: bool = False
    #: The issuer of an OpenID Connect provider at which people may sign in, beside passwords, such as
    #: `https://id.example.org/realms/staff`. Empty: none.
    oidc_issuer: str = ""
    #: The id that the provider has given this site as a client.
    oidc_client_id: str = ""
    #: The secret that it has given with the id; empty for a public client, which proves itself by PKCE alone.
    oidc_client_secret: str = field(default="", repr=False)
    #: What people call the provider, for the button, such as `Example University`. Empty: the issuer's host.
    oidc_name: str = ""
    #: For how many days what was deleted can be restored.
    deletion_days: int = 30

    @property
    def sends_mail(self) -> bool:
        """Whether the site sends e-mail."""
        return bool(self.mail_host and self.mail_from and self.site_address)

    def sends(self, kind: str) -> bool:
        """Whether the site sends e-mail of this kind."""
        return self.sends_mail and kind in self.mail_kinds

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None, *, file: str | None = None) -> "Settings":
        """Read `ANNOTATOR_…` variables, with the TOML file named by `file` or `ANNOTATOR_SETTINGS` as fallback.

        Raises `InvalidValueError` with the name of an invalid or unknown setting.
        """
        given = os.environ if environment is None else environment
        values = _from_file(file or given.get(SETTINGS_FILE) or None)
        for variable, text in given.items():
            if variable.startswith(PREFIX) and variable not in OTHERS:
                name = variable.removeprefix(PREFIX).lower()
                known = _known(name, variable)
                values[known] = KINDS[name].read(text, variable)
        # Behind a proxy the pages are on a network, where a cookie without HTTPS can be read by anyone.
        values.setdefault("secure_cookies", bool(values.get("proxies")))
        return cls(**values)

    def to_environment(self) -> dict[str, str]:
        """The environment variables with which another process reads the same settings."""
        return {f"{PREFIX}{name.upper()}": kind.write(getattr(self, kind.field)) for name, kind in KINDS.items()}


class Kind(NamedTuple):
    """How a setting is parsed and written; its name has the unit, its field is in bytes."""

    field: str
    read: Callable[[str, str], object]
    write: Callable[[Any], str] = str
    # Types that TOML may give besides text, which is all that the environment has.
    types: tuple[type, ...] = ()


def refuse_same_port(settings: Settings) -> None:
    """Raise `InvalidValueError` when metrics and pages would use the same port."""
    if settings.metrics_port == settings.port:
        raise InvalidValueError(
            "The settings ANNOTATOR_PORT and ANNOTATOR_METRICS_PORT are both %(port)d: the metrics need another port.",
            port=settings.port,
        )


def refuse_weak_key(settings: Settings) -> None:
    """Raise `InvalidValueError` when the secret key for sessions is missing or too weak."""
    if not settings.secret_key:
        raise InvalidValueError("The setting ANNOTATOR_SECRET_KEY is missing: give it a long random text.")
    if len(settings.secret_key) < LEAST_KEY_LENGTH or len(set(settings.secret_key)) < LEAST_KEY_SIGNS:
        raise InvalidValueError(
            "The setting ANNOTATOR_SECRET_KEY can be guessed: it needs at least %(least)d characters from a random "
            "source, such as what `%(command)s` prints.",
            least=LEAST_KEY_LENGTH,
            command='python -c "import secrets; print(secrets.token_hex(32))"',
        )


def refuse_site_without_name(settings: Settings) -> None:
    """Raise `InvalidValueError` when other machines can reach the pages and no host name is configured.

    Invitation links start with the host name of the request, which its sender controls.
    """
    if settings.site_hosts or (not settings.proxies and _is_loopback(settings.host)):
        return
    raise InvalidValueError(
        "The setting ANNOTATOR_SITE_HOSTS is missing: other machines can reach the pages (listening at %(host)s, "
        "proxies: %(proxies)d). Set it to the names of the site, such as pool.example.org. Links in invitations begin "
        "with the name that a request was sent to, and requests for other names are then refused.",
        host=settings.host,
        proxies=settings.proxies,
    )


def refuse_incomplete_provider(settings: Settings) -> None:
    """Raise `InvalidValueError` when the provider for signing in lacks its issuer or the client id."""
    if settings.oidc_issuer and not settings.oidc_client_id:
        raise InvalidValueError(
            "The setting ANNOTATOR_OIDC_CLIENT_ID is missing: give it the id under which %(issuer)s knows this site.",
            issuer=settings.oidc_issuer,
        )
    if (settings.oidc_client_id or settings.oidc_client_secret or settings.oidc_name) and not settings.oidc_issuer:
        raise InvalidValueError(
            "The setting ANNOTATOR_OIDC_ISSUER is missing: other settings for signing in at a provider are there."
        )


def refuse_incomplete_mail(settings: Settings) -> None:
    """Raise `InvalidValueError` when there is a mail server, and a setting without which no e-mail can be sent is not.

    Raises it as well for e-mail that would be sent without encryption to another machine.
    """
    if not settings.mail_host:
        return
    needed = ["site_address", "mail_from", *(["mail_password"] if settings.mail_name else [])]
    for name in needed:
        if not getattr(settings, name):
            raise InvalidValueError(
                "The setting %(name)s is missing: with ANNOTATOR_MAIL_HOST, the site would send e-mail, and cannot "
                "without it.",
                name=f"{PREFIX}{name.upper()}",
            )
    if settings.mail_tls == "none" and not _is_loopback(settings.mail_host):
        raise InvalidValueError(
            "With ANNOTATOR_MAIL_TLS=none e-mail would be sent to the other machine “%(host)s” without encryption.",
            host=settings.mail_host,
        )


def sqlite_url(path: Path) -> str:
    """The database URL of an SQLite file."""
    return f"sqlite:///{path}"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _from_file(path: str | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        read = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidValueError(
            "The settings in %(file)s cannot be read: %(reason)s.",
            file=path,
            reason=((isinstance(error, OSError) and error.strerror) or str(error)).rstrip("."),
        ) from error
    return {_known(name, name): KINDS[name].read(_as_text(value, name), name) for name, value in read.items()}


def _as_text(value: object, name: str) -> str:
    """A TOML value as it would be written in the environment; `InvalidValueError` if its type is not allowed."""
    if isinstance(value, str):
        return value
    # By exact type: in Python, unlike TOML, booleans are integers.
    if type(value) in KINDS[name].types:
        if not isinstance(value, list):
            return str(int(value)) if isinstance(value, bool) else str(value)
        if all(isinstance(each, str) for each in value):
            return ",".join(value)
    raise InvalidValueError(
        "The setting %(name)s cannot be of the type that the settings file gives it: %(value)s.",
        name=name,
        value=shortened(str(value)),
    )


def _known(name: str, written: str) -> str:
    if name not in KINDS:
        raise InvalidValueError(
            "There is no setting %(name)s. There are: %(known)s.", name=written, known=", ".join(KINDS)
        )
    return KINDS[name].field


def _text(text: str, _name: str) -> str:
    return text


def _filled(text: str, name: str) -> str:
    if not text.strip():
        raise InvalidValueError("The setting %(name)s is empty: give it a value, or leave it out.", name=name)
    return text


def _hosts(text: str, name: str) -> tuple[str, ...]:
    hosts = tuple(host.strip() for host in text.split(",") if host.strip())
    for host in hosts:
        if not SITE_HOST.fullmatch(host):
            raise InvalidValueError(
                "The setting %(name)s has names alone, such as pool.example.org or .example.net, without “https://”, "
                "port or path: not “%(text)s”.",
                name=name,
                text=shortened(host),
            )
    return hosts


def _outgoing_hosts(text: str, name: str) -> tuple[str, ...]:
    """Parse host names, as `_hosts` does, and IP addresses, which `_hosts` would refuse."""
    hosts = tuple(host.strip().lower() for host in text.split(",") if host.strip())
    named = [host for host in hosts if not _is_ip_address(host)]
    _hosts(",".join(named), name)
    return hosts


def _document_sources(text: str, name: str) -> tuple[str, ...]:
    places = tuple(place.strip() for place in text.split(",") if place.strip())
    for place in places:
        if not place.startswith(("/", "ir_datasets:")):
            raise InvalidValueError(
                "The setting %(name)s has folders from / on and data sets as ir_datasets:NAME, not “%(text)s”.",
                name=name,
                text=shortened(place),
            )
    return places


def _keys_of_hosts(text: str, name: str) -> tuple[str, ...]:
    keys = tuple(key.strip() for key in text.split(",") if key.strip())
    for key in keys:
        host, _, place = key.partition("=")
        _outgoing_hosts(host, name)
        if not MODEL_KEY.fullmatch(place):
            # Without what is there, which may be the key itself.
            raise InvalidValueError(
                "The setting %(name)s has HOST=FILE, with a file from / on, or HOST=env:VARIABLE, for each host: not "
                "the key itself.",
                name=name,
            )
    return keys


def _issuer(text: str, name: str) -> str:
    if not text:
        return text
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port  # a port that is no number raises
    except ValueError:
        host = None
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host)) if host else False
    extra = parts.query or parts.fragment or parts.username is not None if host else True
    if not is_safe or extra or not text.isascii() or not text.isprintable() or " " in text:
        raise InvalidValueError(
            "The setting %(name)s is the issuer's address with https:// (http:// for this machine alone), without "
            "name, password, “?” or “#”, such as https://id.example.org/realms/staff: not “%(text)s”.",
            name=name,
            text=shortened(text),
        )
    return text


def _plain(text: str, name: str) -> str:
    """A value that is sent in headers and addresses; a wrong one is not shown, as it may be a secret."""
    if not text.isascii() or not text.isprintable() or text != text.strip():
        raise InvalidValueError("The setting %(name)s has ASCII characters alone, and no blank at its ends.", name=name)
    return text


def _is_ip_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _mebibytes(text: str, name: str) -> int:
    size = _number(text)
    if not size:
        raise InvalidValueError(
            "The setting %(name)s is a whole number of mebibytes above 0, not “%(text)s”.",
            name=name,
            text=shortened(text),
        )
    return size * MEBIBYTE


def _number(text: str) -> int | None:
    """Parse an integer of limited length; None for any other text."""
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else None


def _switch(text: str, name: str) -> bool:
    if text not in {"0", "1"}:
        raise InvalidValueError("The setting %(name)s is 0 or 1, not “%(text)s”.", name=name, text=text)
    return text == "1"


def _count(least: int, most: int) -> Callable[[str, str], int]:
    def read(text: str, name: str) -> int:
        number = _number(text)
        if number is None or not least <= number <= most:
            raise InvalidValueError(
                "The setting %(name)s is a whole number from %(least)d to %(most)d, not “%(text)s”.",
                name=name,
                least=least,
                most=most,
                text=shortened(text),
            )
        return number

    return read


def _one_of(known: Sequence[str]) -> Callable[[str, str], str]:
    def read(text: str, name: str) -> str:
        if text not in known:
            raise InvalidValueError(
                "The setting %(name)s is one of %(known)s, not “%(text)s”.",
                name=name,
                known=", ".join(known),
                text=shortened(text),
            )
        return text

    return read


def _in_mebibytes(size: int) -> str:
    return str(size // MEBIBYTE)


def _as_switch(on: bool) -> str:  # noqa: FBT001 - the value of a setting is its only argument
    return "1" if on else "0"


KINDS: Mapping[str, Kind] = {
    "secret_key": Kind("secret_key", _text),
    "database_url": Kind("database_url", _filled),
    "replica_url": Kind("replica_url", _text),
    "upload_limit_mb": Kind("upload_limit", _mebibytes, _in_mebibytes, (int,)),
    "unpacked_limit_mb": Kind("unpacked_limit", _mebibytes, _in_mebibytes, (int,)),
    "secure_cookies": Kind("secure_cookies", _switch, _as_switch, (bool, int)),
    "host": Kind("host", _filled),
    "port": Kind("port", _count(1, GREATEST_PORT), types=(int,)),
    "workers": Kind("workers", _count(1, 64), types=(int,)),
    "page_threads": Kind("page_threads", _count(1, 64), types=(int,)),
    "topic_limit": Kind("topic_limit", _count(1, 30_000), types=(int,)),
    "connections_per_address": Kind("connections_per_address", _count(0, 100_000), types=(int,)),
    "sender_seconds": Kind("sender_seconds", _count(1, 3600), types=(int,)),
    "api_requests_per_minute": Kind("api_requests_per_minute", _count(0, 1_000_000), types=(int,)),
    "proxies": Kind("proxies", _count(0, 9), types=(int,)),
    "hsts_days": Kind("hsts_days", _count(0, 3650), types=(int,)),
    "log_format": Kind("log_format", _one_of(LOG_FORMATS)),
    "metrics_port": Kind("metrics_port", _count(0, GREATEST_PORT), types=(int,)),
    "site_hosts": Kind("site_hosts", _hosts, ",".join, (list,)),
    "outgoing_hosts": Kind("outgoing_hosts", _outgoing_hosts, ",".join, (list,)),
    "model_keys": Kind("model_keys", _keys_of_hosts, ",".join, (list,)),
    "search_keys": Kind("search_keys", _keys_of_hosts, ",".join, (list,)),
    "site_address": Kind("site_address", read_site_address),
    "mail_host": Kind("mail_host", _text),
    "mail_port": Kind("mail_port", _count(1, GREATEST_PORT), types=(int,)),
    "mail_tls": Kind("mail_tls", _one_of(MAIL_TLS)),
    "mail_name": Kind("mail_name", _text),
    "mail_password": Kind("mail_password", read_place_of_password),
    "mail_from": Kind("mail_from", read_sender),
    "mail_kinds": Kind("mail_kinds", read_mail_kinds, ",".join, (list,)),
    "mail_per_hour": Kind("mail_per_hour", _count(1, 1_000_000), types=(int,)),
    "document_sources": Kind("document_sources", _document_sources, ",".join, (list,)),
    "index_folder": Kind("index_folder", _text),
    "search_folder": Kind("search_folder", _text),
    "require_second_factor": Kind("require_second_factor", _switch, _as_switch, (bool, int)),
    "oidc_issuer": Kind("oidc_issuer", _issuer),
    "oidc_client_id": Kind("oidc_client_id", _plain),
    "oidc_client_secret": Kind("oidc_client_secret", _plain),
    "oidc_name": Kind("oidc_name", _text),
    "deletion_days": Kind("deletion_days", _count(1, 3650), types=(int,)),
    "demonstration": Kind("demonstration", _switch, _as_switch, (bool, int)),
}
