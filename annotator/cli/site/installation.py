"""The settings and the open database that a command works on."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import wraps
from getpass import getuser
from typing import Any, Concatenate, ParamSpec

import click

from annotator.cli.site.arguments import refuse_what_is_no_text
from annotator.errors import NotFoundError
from annotator.settings import Settings
from annotator.storage import Database
from annotator.storage.collections.audit import Actor, Transaction, record_in
from annotator.storage.site.database import file_behind
from annotator.storage.site.schema import has_tables, prepare_schema
from annotator.storage.tables.collections import Door

Options = ParamSpec("Options")

# Commands that create a site. Every other one needs a database, so that a mistyped name does not create one.
MAKERS = ("users add", "collections add", "collections import", "serve")
# Also creates a site, and is suggested first; it does not use `Installation`.
UPGRADE = "database upgrade"


@dataclass(frozen=True)
class Installation:
    """The settings and the database, with its tables."""

    settings: Settings
    database: Database


def on_installation(command: Callable[Concatenate[Installation, Options], None]) -> Callable[Options, None]:
    """Pass the installation to a command as its first argument, and close the database afterwards.

    Arguments that the database cannot store are rejected before it is opened.
    """

    @wraps(command)
    def with_installation(*args: Options.args, **options: Options.kwargs) -> None:
        context = click.get_current_context()
        refuse_what_is_no_text(context)
        installation = context.with_resource(
            _opened(context.ensure_object(Settings), makes=words_of(context) in MAKERS)
        )
        command(installation, *args, **options)

    return with_installation


@contextmanager
def _opened(settings: Settings, *, makes: bool) -> Iterator[Installation]:
    database = Database(settings.database_url, search_folder=settings.search_folder)
    try:
        if not makes:
            refuse_without_tables(database)
        prepare_schema(database)
        yield Installation(settings, database)
    finally:
        database.close()


def refuse_without_tables(database: Database) -> None:
    """Raise `NotFoundError` when the database does not exist or is empty; it is not created."""
    if not has_tables(database):
        raise NotFoundError(
            "There is no database of annotator at “%(place)s”. If that is its name, one of these commands makes it: "
            "%(commands)s.",
            place=file_behind(database.engine.url) or database.engine.url.render_as_string(),
            commands=", ".join((UPGRADE, *MAKERS)),
        )


def words_of(context: click.Context) -> str:
    """The words of the running command, without the program name."""
    words: list[str] = []
    while context.parent is not None:
        words.insert(0, context.info_name or "")
        context = context.parent
    return " ".join(words)


def actor() -> Actor:
    """The operating system's user, for workflows that add audit entries themselves."""
    return Actor(Door.COMMAND, _system_name())


def note(
    session: Transaction,
    action: str,
    slug: str | None = None,
    *,
    subject: object = "",
    details: Mapping[str, Any] | None = None,
) -> None:
    """Add an audit entry for the collection, or for the site without a `slug`, with the system's user as the actor."""
    record_in(session, actor(), action, slug, at=datetime.now(UTC), subject=subject, details=details)


def note_export(
    installation: Installation,
    action: str,
    slug: str,
    *,
    subject: object = "",
    details: Mapping[str, Any] | None = None,
) -> None:
    """Add an audit entry for an export in a transaction of its own; when that fails, nothing is exported."""
    with installation.database.transaction() as session:
        note(session, action, slug, subject=subject, details=details)


def _system_name() -> str:
    try:
        return getuser()
    except (KeyError, OSError):  # no user name, such as in a container
        return ""
