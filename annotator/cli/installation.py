"""What a command works on: the settings and the open database."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, ParamSpec

import click

from annotator.cli.argument_text import refuse_what_is_no_text
from annotator.settings import Settings
from annotator.storage import Database
from annotator.storage.schema import prepare_schema

Options = ParamSpec("Options")


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
        installation = context.with_resource(_opened(context.ensure_object(Settings)))
        command(installation, *args, **options)

    return with_installation


@contextmanager
def _opened(settings: Settings) -> Iterator[Installation]:
    database = Database(settings.database_url)
    try:
        prepare_schema(database)
        yield Installation(settings, database)
    finally:
        database.close()
