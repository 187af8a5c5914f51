"""What a command works on: the settings and the open database."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, ParamSpec

import click

from annotator.cli.site.argument_text import refuse_what_is_no_text
from annotator.errors import NotFoundError
from annotator.settings import Settings
from annotator.storage import Database
from annotator.storage.site.database import file_behind
from annotator.storage.site.schema import has_tables, prepare_schema

Options = ParamSpec("Options")

# They begin a site. Every other command needs one, and a name that was mistyped makes none.
MAKERS = ("users add", "collections add", "collections import", "serve")
# This one does so as well, and is told first; it does not work on an `Installation`.
UPGRADE = "database upgrade"


@dataclass(frozen=True)
class Installation:
    """The settings and the database they name, its tables made."""

    settings: Settings
    database: Database


def on_installation(command: Callable[Concatenate[Installation, Options], None]) -> Callable[Options, None]:
    """Hand the installation to a command as its first argument and close the database behind it.

    What the database could not store is refused before it is opened.
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
    database = Database(settings.database_url)
    try:
        if not makes:
            refuse_without_tables(database)
        prepare_schema(database)
        yield Installation(settings, database)
    finally:
        database.close()


def refuse_without_tables(database: Database) -> None:
    """Raise `NotFoundError` when the database is not there or is empty; nothing is made of it."""
    if not has_tables(database):
        raise NotFoundError(
            "There is no database of annotator at “%(place)s”. If that is its name, one of these commands makes it: "
            "%(commands)s.",
            place=file_behind(database.engine.url) or database.engine.url.render_as_string(),
            commands=", ".join((UPGRADE, *MAKERS)),
        )


def words_of(context: click.Context) -> str:
    """The words of the command that runs, after the program's name."""
    words: list[str] = []
    while context.parent is not None:
        words.insert(0, context.info_name or "")
        context = context.parent
    return " ".join(words)
