"""`annotator audit list`: who did what, in a collection or on the whole site."""

import json
from datetime import datetime

import click

from annotator.cli.site.installation import Installation, on_installation
from annotator.cli.site.options import MOMENT
from annotator.cli.site.tables import Row, format_option, show_json, show_table
from annotator.workflows.collections.audit import Deed, DeedsWanted, deeds_csv, deeds_json, list_deeds


@click.group
def command() -> None:
    """The audit log: who did what, by page, command or program."""


@command.command("list")
@click.argument("slug", required=False)
@click.option("--actor", metavar="NAME", help="Only actions of this account, or of this operating-system user.")
@click.option(
    "--action", metavar="ACTION", help="Only this action, such as pool.build, or all on one subject, such as pool."
)
@click.option("--since", type=MOMENT, metavar="WHEN", help="From this day or time on, in UTC.")
@click.option("--until", type=MOMENT, metavar="WHEN", help="Before this day or time, in UTC.")
@format_option()
@on_installation
def list_(
    installation: Installation,
    slug: str | None,
    actor: str | None,
    action: str | None,
    since: datetime | None,
    until: datetime | None,
    format_: str,
) -> None:
    """List the audit log, newest first: of one collection, or of the whole site when none is named.

    Lines are only ever added. Judgements are not in it: use `judgements export`.
    """
    wanted = DeedsWanted(actor, action, since, until)
    with installation.database.reading() as session:
        deeds = list_deeds(session, slug, wanted)
    match format_:
        case "json":
            show_json(deeds_json(deeds))
        case "csv":
            click.echo(deeds_csv(deeds).encode(), nl=False)
        case _:
            show_table(
                ["AT", "WHO", "BY", "COLLECTION", "ACTION", "OF WHAT", "DETAILS"], [_row(deed) for deed in deeds]
            )
            click.echo(f"Deeds: {len(deeds)}.", err=True)


def _row(deed: Deed) -> Row:
    details = "; ".join(f"{name}: {_shown(value)}" for name, value in deed.details.items())
    return [
        deed.at,
        deed.name or None,
        deed.door.value,
        deed.collection,
        deed.action,
        deed.subject or None,
        details or None,
    ]


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
