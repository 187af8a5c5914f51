"""`annotator doctor`: what is wrong with this installation, and what to do about it."""

import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from http.client import HTTPConnection, HTTPException
from importlib.util import find_spec
from os import R_OK, W_OK, X_OK, access
from os.path import exists
from pathlib import Path
from shutil import disk_usage
from tempfile import gettempdir
from typing import NamedTuple
from urllib.parse import urlsplit

import click

from annotator.cli.site.tables import format_option, show_rows
from annotator.errors import AnnotatorError
from annotator.installed import how_to_install, installed_version
from annotator.settings import (
    Settings,
    refuse_incomplete_mail,
    refuse_incomplete_provider,
    refuse_same_port,
    refuse_site_without_name,
    refuse_weak_key,
)
from annotator.storage import Database
from annotator.storage.site.backups import left_copies
from annotator.storage.site.database import file_behind
from annotator.storage.site.replica import Replica
from annotator.storage.site.schema import has_tables, prepare_schema, try_to_write
from annotator.worker.mailing import server_of
from annotator.workflows.agreement.model_requests import KEY_SETTING
from annotator.workflows.people.identity_provider import IdentityProvider
from annotator.workflows.people.provider_requests import ProviderAccess
from annotator.workflows.site.health import site_health
from annotator.workflows.site.host_keys import SEARCH_SETTING, key_of
from annotator.workflows.site.input_sources import IR_DATASETS
from annotator.workflows.site.mail import MailState, count_mail, count_undelivered
from annotator.workflows.site.mail_server import MailProblem

GIBIBYTE = 1 << 30
LEAST_FREE = GIBIBYTE  # of a disk: less is a warning
LITTLE_FREE = GIBIBYTE // 10  # and less than this an error
LONG_LOG = GIBIBYTE  # of SQLite's write-ahead log
SECONDS_TO_CONNECT = 2
EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared, not bound
# The module of each extra that commands and pages can do without, and what needs it.
EXTRAS = {
    "learning": ("sklearn", "pools by continuous active learning (cal)"),
    "parquet": ("pyarrow", "Parquet files and data sets of Hugging Face"),
    "search": ("tantivy", "searching millions of documents"),
    "postgres": ("psycopg", "a PostgreSQL database"),
}


class State(StrEnum):
    """Whether something is in order: a note is for information, a warning can wait, an error cannot."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


class Finding(NamedTuple):
    """One line of the table: what was examined, its state, what was found, and what to do."""

    subject: str
    state: State
    found: str
    advice: str = ""


@click.command
@format_option()
@click.pass_obj
def command(settings: Settings, format_: str) -> None:
    """Examine this installation: settings, packages, database, disks, keys, server and worker, with advice.

    It changes nothing and asks no other machine but the database, the provider of sign-in and the mail server.
    `database check` examines what is stored. The exit code is 1 if anything is wrong, 0 if there are only warnings.
    """
    findings = list(_findings(settings, now=datetime.now(UTC)))
    show_rows(format_, ["STATE", "EXAMINED", "FOUND", "WHAT TO DO"], [_row(one) for one in findings])
    errors, warnings = (sum(one.state is state for one in findings) for state in (State.ERROR, State.WARNING))
    click.echo(f"Errors: {errors}, warnings: {warnings}.", err=True)
    if errors:
        click.get_current_context().exit(1)


def _row(finding: Finding) -> list[str]:
    return [finding.state.value, finding.subject, finding.found, finding.advice]


def _findings(settings: Settings, *, now: datetime) -> Iterator[Finding]:
    yield Finding("program", State.OK, f"annotator {installed_version()}, Python {sys.version.partition(' ')[0]}")
    parts: Mapping[str, Callable[[], Iterator[Finding]]] = {
        "settings": partial(_of_settings, settings),
        "extras": _of_extras,
        "database": partial(_of_database, settings, now=now),
        "folders": partial(_of_folders, settings),
        "keys": partial(_of_keys, settings),
        "provider of sign-in": partial(_of_provider, settings, now=now),
        "e-mail": partial(_of_mail, settings),
        "server": partial(_of_server, settings),
    }
    for subject, examine in parts.items():
        try:
            yield from examine()
        except OSError as error:  # such as a folder that this account may not enter
            yield Finding(subject, State.ERROR, f"Cannot be examined: {error}.")


def _of_settings(settings: Settings) -> Iterator[Finding]:
    yield _refused("secret key", "random and long enough", lambda: refuse_weak_key(settings))
    yield _refused("site's name", ", ".join(settings.site_hosts) or "local", lambda: refuse_site_without_name(settings))
    yield from _of_address(settings)
    if settings.metrics_port:
        yield _refused("ports", f"{settings.port}, {settings.metrics_port}", lambda: refuse_same_port(settings))
    if settings.demonstration:
        yield Finding(
            "demonstration",
            State.WARNING,
            "The passwords of the demonstration, which everybody knows, are accepted.",
            "Unset ANNOTATOR_DEMONSTRATION on a real site.",
        )
    if settings.site_hosts and not settings.secure_cookies:
        yield Finding(
            "HTTPS",
            State.WARNING,
            "Browsers send sessions without HTTPS, too.",
            "Serve by HTTPS behind a proxy with --proxy 1, or set ANNOTATOR_SECURE_COOKIES=1.",
        )


def _of_address(settings: Settings) -> Iterator[Finding]:
    """Whether the site answers at the address with which links in e-mail begin."""
    host, names = urlsplit(settings.site_address).hostname, settings.site_hosts
    if not host or not names:
        return
    if any(host == name.lstrip(".").lower() or (name[0] == "." and host.endswith(name.lower())) for name in names):
        yield Finding("site's address", State.OK, settings.site_address)
    else:
        yield Finding(
            "site's address",
            State.WARNING,
            f"{settings.site_address} is not among the site's names: who opens a link in an e-mail is refused (421).",
            f"Add {host} to ANNOTATOR_SITE_HOSTS, or correct ANNOTATOR_SITE_ADDRESS.",
        )


def _refused(subject: str, found: str, refuse: Callable[[], object]) -> Finding:
    """A finding: an error with the sentence of the refusal, else what was found."""
    try:
        refuse()
    except AnnotatorError as refusal:
        return Finding(subject, State.ERROR, str(refusal))
    return Finding(subject, State.OK, found)


def _of_extras() -> Iterator[Finding]:
    for extra, (module, purpose) in EXTRAS.items():
        if find_spec(module) is None:
            yield Finding(f"extra {extra}", State.NOTE, f"not installed: needed for {purpose}", how_to_install(extra))
        else:
            yield Finding(f"extra {extra}", State.OK, "installed")


def _of_database(settings: Settings, *, now: datetime) -> Iterator[Finding]:
    try:
        database = Database(settings.database_url, search_folder=settings.search_folder)
    except AnnotatorError as refusal:
        yield Finding("database", State.ERROR, str(refusal))
        return
    try:
        shown = database.engine.url.render_as_string()
        if not has_tables(database):
            yield Finding("database", State.ERROR, f"{shown} has no tables.", "annotator database upgrade")
            return
        prepare_schema(database)
        try_to_write(database)
        yield Finding("database", State.OK, f"{shown} opens and can be written")
        yield from _of_file(file_behind(database.engine.url))
        if settings.replica_url:
            yield _of_replica(settings.replica_url, database)
        yield from _of_site(database, now=now)
        if settings.sends_mail:
            yield _of_waiting_mail(database)
    except AnnotatorError as refusal:
        yield Finding("database", State.ERROR, str(refusal))
    finally:
        database.close()


def _of_file(file: Path | None) -> Iterator[Finding]:
    """What there is to know of an SQLite file, which exists, and of the disk beneath it."""
    if file is None:
        return
    if file.stat().st_mode & stat.S_IROTH:
        yield Finding(
            "file of the database", State.WARNING, "Every account of this machine can read it.", f"chmod 600 {file}"
        )
    log = Path(f"{file}-wal")
    if log.exists() and log.stat().st_size > LONG_LOG:
        yield Finding(
            "write-ahead log",
            State.WARNING,
            f"{log} has {_size(log.stat().st_size)}: a reader has kept its snapshot for long.",
            "Find the process that has the file open (fuser), and restart it.",
        )
    for copy in left_copies(file.parent):
        yield Finding("backup", State.WARNING, f"A backup was killed and left {copy}.", "Back up to that name again.")
    yield _of_disk("disk of the database", file.parent, least=max(LEAST_FREE, file.stat().st_size))


def _of_replica(url: str, database: Database) -> Finding:
    replica = Replica(url, database.engine)
    try:
        if replica.is_ready():
            return Finding("replica", State.OK, "follows the database and keeps up")
        return Finding("replica", State.WARNING, "not used: the reason is above.", "Pages read the database meanwhile.")
    finally:
        replica.close()


def _of_site(database: Database, *, now: datetime) -> Iterator[Finding]:
    health = database.read(site_health, now=now)
    if health.administrators:
        yield Finding("administrators", State.OK, str(health.administrators))
    else:
        yield Finding(
            "administrators", State.ERROR, "Nobody can manage the site.", "annotator users add NAME --administrator"
        )
    counted = f"waiting: {health.waiting}, running: {health.running}, failed in the last day: {health.failed}"
    if health.waiting and not health.running and health.waiting_since is not None:
        since = health.waiting_since.strftime("%Y-%m-%d %H:%M")
        yield Finding(
            "jobs",
            State.WARNING,
            f"{counted}; the oldest since {since} UTC, and none runs.",
            "annotator worker, or annotator serve without --no-worker",
        )
    else:
        yield Finding("jobs", State.WARNING if health.failed else State.OK, counted)


def _of_waiting_mail(database: Database) -> Finding:
    counts, undelivered = database.read(count_mail), database.read(count_undelivered)
    found = f"waiting: {counts[MailState.WAITING]}, given up: {counts[MailState.GIVEN_UP]}"
    if not undelivered:
        return Finding("outbox", State.OK, found)
    found = f"{found}, refused or too late: {undelivered}"
    return Finding("outbox", State.WARNING, found, "annotator mail list --state given-up")


def _of_folders(settings: Settings) -> Iterator[Finding]:
    yield _of_disk("temporary files", Path(gettempdir()), least=LEAST_FREE)
    for name, folder in (("search index", settings.search_folder), ("indexes of folders", settings.index_folder)):
        if folder:
            yield _of_folder(name, Path(folder).resolve())
    for source in settings.document_sources:
        if not source.startswith(IR_DATASETS) and not access(source, R_OK | X_OK):
            yield Finding("documents", State.ERROR, f"{source} is missing, or this account cannot read it.")


def _of_folder(name: str, folder: Path) -> Finding:
    """Whether files can be made in a folder, which is made at need."""
    place = next(one for one in (folder, *folder.parents) if exists(one))  # noqa: PTH110 - False where it may not look
    if not place.is_dir():
        return Finding(name, State.ERROR, f"{place} is a file, not a folder.", "Choose another folder.")
    if not access(place, W_OK | X_OK):
        return Finding(name, State.ERROR, f"This account cannot write into {place}.", f"chown or chmod {place}")
    return _of_disk(name, place, least=LEAST_FREE)


def _of_disk(subject: str, folder: Path, *, least: int) -> Finding:
    free = disk_usage(folder).free
    if free >= least:
        return Finding(subject, State.OK, f"{_size(free)} free")
    state = State.WARNING if free >= LITTLE_FREE else State.ERROR
    return Finding(subject, state, f"{_size(free)} free at {folder}: less than {_size(least)}.", "Make room there.")


def _size(count: int) -> str:
    return f"{count / GIBIBYTE:.1f} GiB"


def _of_keys(settings: Settings) -> Iterator[Finding]:
    """Whether the keys of machine judges and search engines can be read; no key is shown."""
    for setting, named in ((KEY_SETTING, settings.model_keys), (SEARCH_SETTING, settings.search_keys)):
        for host in (one.partition("=")[0] for one in named):
            yield _refused(f"key for {host}", "can be read", partial(key_of, f"https://{host}/", named, setting))


def _of_provider(settings: Settings, *, now: datetime) -> Iterator[Finding]:
    """Whether the provider at which people sign in answers, is the one of the settings, and has keys."""
    subject = "provider of sign-in"
    try:
        refuse_incomplete_provider(settings)
        if not settings.oidc_issuer:
            return
        issuer = settings.oidc_issuer
        access = ProviderAccess(issuer, issuer, settings.oidc_client_id, hosts=settings.outgoing_hosts)
        IdentityProvider(access).keys(now)
    except AnnotatorError as refusal:
        yield Finding(
            subject, State.ERROR, str(refusal), "Correct the settings ANNOTATOR_OIDC_…, or ask who runs the provider."
        )
        return
    yield Finding(subject, State.OK, f"{issuer} answers, and publishes its keys")


def _of_mail(settings: Settings) -> Iterator[Finding]:
    """Whether the settings of e-mail are complete, and the mail server lets the site in; nothing is sent."""
    complete = _refused("e-mail", "is sent" if settings.mail_host else "off", lambda: refuse_incomplete_mail(settings))
    yield complete
    if not settings.sends_mail or complete.state is State.ERROR:
        return
    at = f"{settings.mail_host}:{settings.mail_port}"
    try:
        server_of(settings).check()
    except MailProblem as problem:
        advice = "E-mail waits meanwhile. See the settings ANNOTATOR_MAIL_…, or ask who runs that server."
        yield Finding("mail server", State.ERROR, f"{at}: {problem}", advice)
    else:
        yield Finding("mail server", State.OK, f"{at} lets the site in")


def _of_server(settings: Settings) -> Iterator[Finding]:
    """Whether a server answers at the configured address, and is of the version of this program."""
    host = EVERY_ADDRESS.get(settings.host, settings.host)
    at = f"[{host}]:{settings.port}" if ":" in host else f"{host}:{settings.port}"
    try:
        health = _answer(host, settings.port, "/health")
        ready = _answer(host, settings.port, "/ready")
    except (OSError, HTTPException, UnicodeError):
        yield Finding("server", State.NOTE, f"None answers at {at}.", "annotator serve")
        return
    version = health.removeprefix("alive, annotator ").strip()
    is_ready = ready.strip() == "ready"
    if not health.startswith("alive, annotator "):
        yield Finding("server", State.ERROR, f"Another program answers at {at}.", "Choose another ANNOTATOR_PORT.")
    elif version != installed_version():
        yield Finding("server", State.WARNING, f"The one at {at} is of version {version}.", "Restart it.")
    else:
        yield Finding("server", State.OK if is_ready else State.ERROR, f"answers at {at}: {ready.strip()}")


def _answer(host: str, port: int, path: str) -> str:
    connection = HTTPConnection(host, port, timeout=SECONDS_TO_CONNECT)
    try:
        connection.request("GET", path)
        return connection.getresponse().read(1_000).decode("utf-8", "replace")
    finally:
        connection.close()
