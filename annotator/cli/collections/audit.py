"""`annotator audit list`: the audit log of a collection or of the whole site."""

import json
from datetime import datetime

import click

from annotator.cli.site.installation import Installation, on_installation
from annotator.cli.site.options import MOMENT
from annotator.cli.site.tables import Row, format_option, show_json, show_table
from annotator.workflows.collections.audit import AuditEntry, AuditFilter, entries_csv, entries_json, list_audit_entries


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
    wanted = AuditFilter(actor, action, since, until)
    entries = installation.database.read(list_audit_entries, slug, wanted)
    match format_:
        case "json":
            show_json(entries_json(entries))
        case "csv":
            click.echo(entries_csv(entries).encode(), nl=False)
        case _:
            show_table(
                ["AT", "WHO", "BY", "COLLECTION", "ACTION", "OF WHAT", "DETAILS"], [_row(entry) for entry in entries]
            )
            click.echo(f"Entries: {len(entries)}.", err=True)


def _row(entry: AuditEntry) -> Row:
    details = "; ".join(f"{name}: {_shown(value)}" for name, value in entry.details.items())
    return [
        entry.at,
        entry.name or None,
        entry.door.value,
        entry.collection,
        entry.action,
        entry.subject or None,
        details or None,
    ]


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
