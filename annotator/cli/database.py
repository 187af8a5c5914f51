"""`annotator database`: the tables."""

import click

from annotator.settings import Settings
from annotator.storage import Database
from annotator.storage.migrating import upgrade_schema


@click.group
def command() -> None:
    """The tables; a fresh database gets them by itself, an older one by `upgrade`."""


@command.command("upgrade")
@click.pass_obj
def upgrade(settings: Settings) -> None:
    """Bring the tables to this version of the program. Make a copy of the database first."""
    database = Database(settings.database_url)
    upgrade_schema(database)
    database.close()
    click.echo("The tables are of this version.", err=True)
