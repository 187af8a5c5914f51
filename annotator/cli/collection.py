"""`annotator collections`: evaluation exercises."""

from datetime import UTC, datetime

import click

from annotator.cli.installation import Installation, on_installation
from annotator.cli.tables import show_table
from annotator.storage import Role
from annotator.workflows import collection, members

scale_help = "The grades, such as “0=Not relevant,1=Relevant,2=Highly relevant”."
judgements_help = "How many judges each document wants."
consensus_help = "How several grades become one: majority, median, lowest or highest."


@click.group
def command() -> None:
    """Collections: add, list, change, close."""


@command.command("add")
@click.argument("slug")
@click.option("--title", required=True)
@click.option("--scale", required=True, help=scale_help)
@click.option("--relevant-from", default=1, show_default=True, metavar="GRADE", help="The least relevant grade.")
@click.option("--judgements", default=1, show_default=True, metavar="N", help=judgements_help)
@click.option("--consensus", default="majority", show_default=True, metavar="POLICY", help=consensus_help)
@click.option("--organiser", metavar="NAME", help="The user who is to run it.")
@on_installation
def add(
    installation: Installation,
    slug: str,
    title: str,
    scale: str,
    relevant_from: int,
    judgements: int,
    consensus: str,
    organiser: str | None,
) -> None:
    """Begin an evaluation exercise under a short name."""
    now = datetime.now(UTC)
    with installation.database.transaction() as session:
        collection.add_collection(
            session,
            slug,
            title=title,
            scale=collection.read_scale(scale),
            relevant_from=relevant_from,
            judgements_wanted=judgements,
            consensus_policy=consensus,
            added_at=now,
        )
        if organiser is not None:
            members.add_member(session, slug, organiser, Role.ORGANISER, added_at=now)
    click.echo(f"Added the collection {slug}.", err=True)


@command.command("list")
@on_installation
def show(installation: Installation) -> None:
    """List the collections."""
    with installation.database.reading() as session:
        rows = collection.list_collections(session)
    show_table(
        ["COLLECTION", "STATE", "RELEVANT FROM", "JUDGEMENTS", "CONSENSUS", "TITLE", "SCALE"],
        [
            [
                row.slug,
                "closed" if row.closed else "open",
                row.relevant_from,
                row.judgements_wanted,
                row.consensus_policy,
                row.title,
                ", ".join(f"{grade.value}={grade.name}" for grade in row.scale),
            ]
            for row in rows
        ],
    )


@command.command("set")
@click.argument("slug")
@click.option("--title")
@click.option("--scale", help=scale_help)
@click.option("--relevant-from", type=int, metavar="GRADE", help="The least relevant grade.")
@click.option("--judgements", type=int, metavar="N", help=judgements_help)
@click.option("--consensus", metavar="POLICY", help=consensus_help)
@on_installation
def change(
    installation: Installation,
    slug: str,
    title: str | None,
    scale: str | None,
    relevant_from: int | None,
    judgements: int | None,
    consensus: str | None,
) -> None:
    """Change what is given and leave the rest; a grade that was given cannot leave the scale."""
    grades = None if scale is None else collection.read_scale(scale)
    wanted = collection.CollectionChange(title, grades, relevant_from, judgements, consensus)
    if wanted == collection.CollectionChange():
        raise click.UsageError("Give at least one of --title, --scale, --relevant-from, --judgements, --consensus.")
    with installation.database.transaction() as session:
        collection.change_collection(session, slug, wanted)
    click.echo(f"Changed the collection {slug}.", err=True)


@command.command("close")
@click.argument("slug")
@click.option("--reopen", is_flag=True, help="Take imports, pools and judgements again.")
@on_installation
def close(installation: Installation, slug: str, *, reopen: bool) -> None:
    """Take no more imports, pools and judgements; pages and exports stay."""
    with installation.database.transaction() as session:
        if reopen:
            collection.reopen_collection(session, slug)
        else:
            collection.close_collection(session, slug)
    click.echo(f"The collection {slug} is {'open' if reopen else 'closed'}.", err=True)
